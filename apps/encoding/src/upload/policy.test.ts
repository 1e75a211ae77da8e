// Faults: A16
import { expect, test } from '@jest/globals'
import { isDomainError } from '@vitascope/errors'
import { checkPolicy, exactKey, parseOrganisation, type RequestedCondition } from './policy.ts'
import { encodePolicy, signPolicy } from './policy-signature.ts'
import { admitPost } from './post-policy.ts'

const now = new Date('2030-05-01T12:00:00Z')
const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', region: 'eu-central-1' }
const rules = { bucket: 'videos', keyPrefix: 'uploads/2/', maxBytes: 1_000_000, keys }
const inHours = (hours: number) => new Date(now.getTime() + hours * 3_600_000).toISOString()

const eq = (name: string, value: string): RequestedCondition => ({ operator: 'eq', name, value, max: '' })
const startsWith = (name: string, value: string): RequestedCondition => ({ operator: 'starts-with', name, value, max: '' })
const range = (value: string, max: string): RequestedCondition => ({ operator: 'content-length-range', name: '', value, max })
const uuid = '6fa1a6a4-8f5c-4f4b-9b3b-3f1f1f0d1c2b'
const validConditions = [eq('bucket', 'videos'), eq('key', 'uploads/2/a.mp4'), range('1', '1000')]
const removeCondition = (name: string) => validConditions.filter((condition) => (condition.name || condition.operator) !== name)
const replaceConditions = (...conditions: RequestedCondition[]) => [
  ...validConditions.filter(({ name, operator }) => !conditions.some((other) => (other.name || other.operator) === (name || operator))),
  ...conditions,
]

function findInvalidFields(conditions: RequestedCondition[], expiration = inHours(1)): string[] {
  try {
    checkPolicy({ expiration, conditions }, rules, now)
    return []
  } catch (error) {
    if (!isDomainError(error)) throw error
    return error.fields.map(({ field }) => field)
  }
}

const INVALID_POLICIES: [string, RequestedCondition[], string?][] = [
  ['a foreign bucket', replaceConditions(eq('bucket', 'other'))],
  ['an empty bucket', replaceConditions(eq('bucket', ''))],
  ['a beginning of the bucket', replaceConditions(startsWith('bucket', 'vid'))],
  ['the bucket twice', [...validConditions, eq('bucket', 'videos')]],
  ['the bucket again in capitals', [...validConditions, eq('Bucket', 'other')]],
  ['no bucket', removeCondition('bucket')],
  ['no key', removeCondition('key')],
  ['a foreign prefix', replaceConditions(eq('key', 'uploads/3/a.mp4'))],
  ['a prefix that begins as the own one', replaceConditions(eq('key', 'uploads/22/a.mp4'))],
  ['a path that leaves its prefix', replaceConditions(eq('key', 'uploads/2/../3/a.mp4'))],
  ['an empty segment', replaceConditions(eq('key', 'uploads/2//a.mp4'))],
  ['the prefix alone', replaceConditions(eq('key', 'uploads/2/'))],
  ['an empty beginning of the key', replaceConditions(startsWith('key', ''))],
  ['the beginning of all uploads', replaceConditions(startsWith('key', 'uploads/'))],
  ['the prefix without its slash', replaceConditions(startsWith('key', 'uploads/2'))],
  ['a foreign beginning', replaceConditions(startsWith('key', 'uploads/3/'))],
  ['a beginning that leaves its prefix', replaceConditions(startsWith('key', 'uploads/2/../'))],
  ['a published object', replaceConditions(eq('key', 'media/1/1-1/h264_250.mp4'))],
  ['a bare name', replaceConditions(eq('key', 'a.mp4'))],
  ['a UUID without extension', replaceConditions(eq('key', uuid))],
  ['a UUID in capitals', replaceConditions(eq('key', `${uuid.toUpperCase()}.mp4`))],
  ['a UUID followed by a path', replaceConditions(eq('key', `${uuid}.mp4/x`))],
  ['the beginning of a UUID', replaceConditions(startsWith('key', uuid))],
  ['a variable in the key', replaceConditions(eq('key', 'uploads/2/$'.concat('{filename}')))],
  ['two keys', [...validConditions, startsWith('key', 'uploads/3/')]],
  ['no range', removeCondition('content-length-range')],
  ['a range above the maximum size', replaceConditions(range('0', '1000001'))],
  ['a range whose minimum exceeds its maximum', replaceConditions(range('10', '9'))],
  ['a negative minimum', replaceConditions(range('-1', '10'))],
  ['a range that allows only empty files', replaceConditions(range('0', '0'))],
  ['a range in scientific notation', replaceConditions(range('0', '1e3'))],
  ['two ranges', [...validConditions, range('0', '1000000')]],
  ['a public acl', [...validConditions, eq('acl', 'public-read')]],
  ['the beginning of an acl', [...validConditions, startsWith('acl', 'p')]],
  ['an unknown field', [...validConditions, eq('x-amz-website-redirect-location', 'https://evil.example')]],
  ['a redirect', [...validConditions, eq('success_action_redirect', 'https://evil.example')]],
  ['an unsupported status', [...validConditions, eq('success_action_status', '302')]],
  ['any content type', [...validConditions, startsWith('Content-Type', '')]],
  ['an unknown operator', [...validConditions, { operator: 'ne', name: 'acl', value: 'private', max: '' }]],
  ['another algorithm', [...validConditions, eq('x-amz-algorithm', 'AWS4-HMAC-SHA1')]],
  ['the credential of others', [...validConditions, eq('x-amz-credential', 'OTHER/20300501/eu-central-1/s3/aws4_request')]],
  ['a credential of last year', [...validConditions, eq('x-amz-credential', 'AKIDEXAMPLE/20290501/eu-central-1/s3/aws4_request')]],
  ['a date of next year', [...validConditions, eq('x-amz-date', '20310501T120000Z')]],
  ['an expiry in 25 hours', validConditions, inHours(25)],
  ['an expiry in the past', validConditions, inHours(-1)],
  ['no expiry', validConditions, ''],
  ['an expiry that is not a date', validConditions, 'tomorrow'],
]

// Each row has all parameters. For a missing last one, Jest would pass a `done` callback.
const rows = INVALID_POLICIES.map(([title, conditions, expiration = inHours(1)]) => [title, conditions, expiration] as const)
test.each(rows)('rejects a policy with %s and names the field', (_, conditions, expiration) => {
  const fields = findInvalidFields(conditions, expiration)
  expect(fields.length).toBeGreaterThan(0)
  for (const field of fields) expect(field).toMatch(/^(expiration|conditions(\[\d+\])?)$/)
})

test('reports all invalid conditions by index', () => {
  const conditions = [eq('bucket', 'other'), eq('key', 'uploads/2/a.mp4'), eq('acl', 'public-read')]
  expect(findInvalidFields(conditions, inHours(25))).toEqual(['expiration', 'conditions[0]', 'conditions[2]', 'conditions'])
})

test('a valid policy gets the fields of its signature', () => {
  const requested = [
    ...validConditions,
    eq('acl', 'private'),
    eq('Content-Type', 'video/mp4'),
    eq('x-amz-meta-qqfilename', 'Mein Film.mp4'),
  ]
  const policy = checkPolicy({ expiration: inHours(24), conditions: requested }, rules, now)
  expect(exactKey(policy)).toBe('uploads/2/a.mp4')
  expect(JSON.parse(Buffer.from(encodePolicy(policy), 'base64').toString())).toEqual({
    expiration: '2030-05-02T12:00:00.000Z',
    conditions: [
      { bucket: 'videos' },
      { key: 'uploads/2/a.mp4' },
      ['content-length-range', 1, 1000],
      { acl: 'private' },
      { 'Content-Type': 'video/mp4' },
      { 'x-amz-meta-qqfilename': 'Mein Film.mp4' },
      { 'x-amz-algorithm': 'AWS4-HMAC-SHA256' },
      { 'x-amz-credential': 'AKIDEXAMPLE/20300501/eu-central-1/s3/aws4_request' },
      { 'x-amz-date': '20300501T120000Z' },
    ],
  })
  expect(findInvalidFields(replaceConditions(eq('key', `${uuid}.mp4`)))).toEqual([])
  expect(findInvalidFields(replaceConditions(startsWith('key', 'uploads/2/')))).toEqual([])
  expect([parseOrganisation('uploads/22/a'), parseOrganisation(`${uuid}.mp4`)]).toEqual(['22', undefined])
})

test('the signature is the one of the AWS documentation', () => {
  const policy =
    'eyAiZXhwaXJhdGlvbiI6ICIyMDE1LTEyLTMwVDEyOjAwOjAwLjAwMFoiLA0KICAiY29uZGl0aW9ucyI6IFsNCiAgICB7ImJ1Y2tldCI6ICJzaWd2NGV4YW1wbGVidWNrZXQifSwNCiAgICBbInN0YXJ0cy13aXRoIiwgIiRrZXkiLCAidXNlci91c2VyMS8iXSwNCiAgICB7ImFjbCI6ICJwdWJsaWMtcmVhZCJ9LA0KICAgIHsic3VjY2Vzc19hY3Rpb25fcmVkaXJlY3QiOiAiaHR0cDovL3NpZ3Y0ZXhhbXBsZWJ1Y2tldC5zMy5hbWF6b25hd3MuY29tL3N1Y2Nlc3NmdWxfdXBsb2FkLmh0bWwifSwNCiAgICBbInN0YXJ0cy13aXRoIiwgIiRDb250ZW50LVR5cGUiLCAiaW1hZ2UvIl0sDQogICAgeyJ4LWFtei1tZXRhLXV1aWQiOiAiMTQzNjUxMjM2NTEyNzQifSwNCiAgICB7IngtYW16LXNlcnZlci1zaWRlLWVuY3J5cHRpb24iOiAiQUVTMjU2In0sDQogICAgWyJzdGFydHMtd2l0aCIsICIkeC1hbXotbWV0YS10YWciLCAiIl0sDQoNCiAgICB7IngtYW16LWNyZWRlbnRpYWwiOiAiQUtJQUlPU0ZPRE5ON0VYQU1QTEUvMjAxNTEyMjkvdXMtZWFzdC0xL3MzL2F3czRfcmVxdWVzdCJ9LA0KICAgIHsieC1hbXotYWxnb3JpdGhtIjogIkFXUzQtSE1BQy1TSEEyNTYifSwNCiAgICB7IngtYW16LWRhdGUiOiAiMjAxNTEyMjlUMDAwMDAwWiIgfQ0KICBdDQp9'
  const exampleKeys = { accessKeyId: '', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', region: 'us-east-1' }
  expect(signPolicy(policy, exampleKeys, '20151229')).toBe('8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e')
})

const signForm = (conditions = [...validConditions, eq('Content-Type', 'video/mp4'), eq('success_action_status', '201')]) => {
  const policy = encodePolicy(checkPolicy({ expiration: inHours(1), conditions }, rules, now))
  return new Map([
    ['key', 'uploads/2/a.mp4'],
    ['content-type', 'video/mp4'],
    ['success_action_status', '201'],
    ['x-amz-algorithm', 'AWS4-HMAC-SHA256'],
    ['x-amz-credential', 'AKIDEXAMPLE/20300501/eu-central-1/s3/aws4_request'],
    ['x-amz-date', '20300501T120000Z'],
    ['policy', policy],
    ['x-amz-signature', signPolicy(policy, keys, '20300501')],
  ])
}

const verified = { bucket: rules.bucket, keys: [{ ...keys, secretAccessKey: 'a newer secret' }, keys] }

test('accepts a form that meets its policy, signed by one of the keys', () => {
  expect(admitPost(signForm(), verified, now)).toEqual({
    key: 'uploads/2/a.mp4',
    contentType: 'video/mp4',
    minBytes: 1,
    maxBytes: 1000,
    status: 201,
  })
})

test.each<[string, (fields: Map<string, string>) => void, Date?]>([
  ['another key', (fields) => fields.set('key', 'uploads/2/b.mp4')],
  ['another bucket', (fields) => fields.set('bucket', 'other')],
  ['a field that the policy does not allow', (fields) => fields.set('acl', 'private')],
  ['a missing field', (fields) => fields.delete('content-type')],
  ['another policy', (fields) => fields.set('policy', Buffer.from('{"expiration":"2031-01-01","conditions":[]}').toString('base64'))],
  ['the signature of another policy', (fields) => fields.set('x-amz-signature', 'a'.repeat(64))],
  ['a short signature', (fields) => fields.set('x-amz-signature', 'a')],
  ['another credential', (fields) => fields.set('x-amz-credential', 'OTHER/20300501/eu-central-1/s3/aws4_request')],
  ['no signature', (fields) => fields.delete('x-amz-signature')],
  ['an expired policy', () => {}, new Date('2030-05-01T13:00:00Z')],
])('rejects a form with %s', (_, change, at = now) => {
  const fields = signForm()
  change(fields)
  expect(() => admitPost(fields, verified, at)).toThrow(expect.objectContaining({ kind: expect.stringMatching(/forbidden|invalid/) }))
})
