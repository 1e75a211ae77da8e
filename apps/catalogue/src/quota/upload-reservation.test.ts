import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { buildOrganisation, createCall, createUpload } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import type { Quota } from '../organisation-replica/organisation.ts'
import { createSlideJobStore } from '../presentation/slide-job-store.ts'
import { ESTIMATE } from './quota.ts'
import { readUsage } from './reserve.ts'
import { createUploadReservations, type UploadReservation, type UploadReservations } from './upload-reservation.ts'

const MIB = 1024 ** 2

let catalogue: CatalogueDatabase
let reservations: UploadReservations
let organisationId: string
let revision = 1
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  reservations = createUploadReservations(catalogue.db, 3)
})
beforeEach(async () => {
  organisationId = String(++revision + 100)
  await limit({ bytes: 100 * MIB })
})
afterAll(() => catalogue.close())

const limit = (quota: Quota) => catalogue.organisations.apply(buildOrganisation({ organisationId, revision: ++revision, quota }))
const reserve = async (bytes: number, more: Partial<UploadReservation> = {}) => {
  const reservationId = more.reservationId ?? randomUUID()
  await reservations.reserve({ reservationId, organisationId, bytes, isOpen: true, lifetimeSeconds: 600, ...more })
  return reservationId
}
const readReservedBytes = async () => (await readUsage(catalogue.db.query, organisationId)).reservedBytes
const expire = (id: string) =>
  catalogue.db.query(`update upload_reservation set expire_time = now() - interval '1 second' where reservation_id = $1`, [id])

test('uploads reserve bytes up to the quota, and release them', async () => {
  const first = await reserve(60 * MIB)
  await expect(reserve(41 * MIB)).rejects.toMatchObject({ kind: 'exhausted', reason: 'QUOTA_BYTES' })
  await reserve(40 * MIB)
  await expect(reserve(0)).rejects.toMatchObject({ reason: 'QUOTA_BYTES' })
  expect(await readReservedBytes()).toBe(100 * MIB)
  await reservations.release(first)
  await reservations.release(first)
  expect(await readReservedBytes()).toBe(40 * MIB)
})

test('a reservation can be repeated, increased and decreased', async () => {
  const reservationId = await reserve(50 * MIB)
  await reserve(50 * MIB, { reservationId })
  await reserve(100 * MIB, { reservationId })
  await expect(reserve(101 * MIB, { reservationId })).rejects.toMatchObject({ reason: 'QUOTA_BYTES' })
  expect(await readReservedBytes()).toBe(100 * MIB)
  await limit({ bytes: 10 * MIB })
  await reserve(90 * MIB, { reservationId })
  expect(await readReservedBytes()).toBe(90 * MIB)
})

test('slides replace the reservation of their upload, also without a quota', async () => {
  const jobs = createSlideJobStore(catalogue.db, catalogue.enqueue)
  const file = { presentationId: '', organisationId, userId: '7', filename: 'a.pdf', title: 'a', sourceBytes: 30 * MIB }
  const uploadId = await reserve(30 * MIB)
  await jobs.add({ ...file, sourceObject: `upload/${organisationId}/first.pdf`, uploadId })
  const ofJob = await readReservedBytes()
  await limit({})
  const other = await reserve(30 * MIB)
  await jobs.add({ ...file, sourceObject: `upload/${organisationId}/second.pdf`, uploadId: other })
  expect(await catalogue.db.query('select from upload_reservation where organisation_id = $1', [organisationId])).toEqual([])
  expect([ofJob, await readReservedBytes()]).toEqual([30 * MIB, 2 * ofJob])
})

test('a reservation can replace another one in one step', async () => {
  const first = await reserve(90 * MIB)
  await reserve(80 * MIB, { replacesId: first, isOpen: false })
  expect(await readReservedBytes()).toBe(80 * MIB)
})

test('an expired reservation does not count, can be renewed, and is swept', async () => {
  const reservationId = await reserve(90 * MIB)
  await expire(reservationId)
  expect(await readReservedBytes()).toBe(0)
  const other = await reserve(50 * MIB)
  await expect(reserve(90 * MIB, { reservationId })).rejects.toMatchObject({ reason: 'QUOTA_BYTES' })
  await reserve(20 * MIB, { reservationId })
  await expire(other)
  await reservations.sweep(10)
  expect(await catalogue.db.query('select reservation_id from upload_reservation where organisation_id = $1', [organisationId])).toEqual([
    { reservation_id: reservationId },
  ])
})

test('open uploads are limited also without a quota, and complete and expired uploads do not count', async () => {
  await limit({})
  const ids = [await reserve(1), await reserve(1), await reserve(1)]
  await expect(reserve(1)).rejects.toMatchObject({ kind: 'exhausted', reason: 'TOO_MANY_UPLOADS', retryAfter: 10 })
  await reserve(2, { reservationId: String(ids[0]) })
  await reserve(2, { reservationId: String(ids[0]), isOpen: false })
  await reserve(1)
  await expire(String(ids[1]))
  await reserve(1)
  await expect(reserve(1)).rejects.toMatchObject({ reason: 'TOO_MANY_UPLOADS' })
})

test('concurrent reservations exceed neither limit', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => reserve(40 * MIB)))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  await limit({})
  const others = await Promise.allSettled(Array.from({ length: 20 }, () => reserve(1)))
  expect(others.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('a video that is created from an upload replaces its reservation, and reservations of other organisations stay', async () => {
  const uploadId = await reserve(95 * MIB)
  const foreign = String(++revision + 10_000)
  await catalogue.organisations.apply(buildOrganisation({ organisationId: foreign, revision: ++revision, quota: {} }))
  const accept = (to: string) =>
    catalogue.uploads.accept(createUpload({}, { organisationId: to, sourceUrl: `tus://${uploadId}/a.mp4` }), createCall())
  await accept(foreign)
  expect(await readReservedBytes()).toBe(95 * MIB)
  await accept(organisationId)
  expect(await readReservedBytes()).toBe(ESTIMATE.bytes)
})
