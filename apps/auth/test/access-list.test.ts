import { afterAll, expect, test } from '@jest/globals'
import { invalidFields, startAuth } from './auth-setup.ts'
import { service } from './test-auth.ts'

const fixture = await startAuth()
const { auth, uploader } = fixture
afterAll(fixture.close)

test('the number of a resource never changes, and its access level can change', async () => {
  const list = async () => (await auth.accessList.listResources({}, uploader())).resources
  const before = await list()
  expect(before.map(({ aclId }) => aclId)).toEqual([1, 2, 3])
  const changed = before.map((resource) => ({ ...resource, aclId: 0, openToUsers: resource.name === 'video::get' }))
  await Promise.all([1, 2, 3].map(() => auth.accessList.registerResources({ resources: changed.toReversed() }, service())))
  await auth.accessList.registerResources({ resources: [{ aclId: 9, name: 'new::get', openToUsers: true }] }, service())
  expect(await list()).toEqual([
    ...before.map((resource) => ({ ...resource, openToUsers: resource.name === 'video::get' })),
    { aclId: 4, name: 'new::get', openToUsers: true },
  ])
})

test.each([['Video::get'], ['video'], ['video::'], ['a::b::c'], ['__proto__'], ['a\0::get'], ['']])(
  'the resource name %j is rejected',
  async (name) => {
    const resources = [{ aclId: 0, name, openToUsers: true }]
    await expect(auth.accessList.registerResources({ resources }, service())).rejects.toEqual(invalidFields('resources'))
  },
)
