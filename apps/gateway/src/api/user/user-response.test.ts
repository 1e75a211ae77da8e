import { expect, test } from '@jest/globals'
import { User, UserStatus, UserType } from '@vitascope/proto/auth/v1/user'
import { createdUserResponse, userResponse } from './user-response.ts'

const user = User.create({
  userId: '7',
  organisationId: '2',
  firstName: 'Ada',
  lastName: 'Byron',
  email: 'Ada@example.org',
  userType: UserType.USER_TYPE_STANDARD,
  status: UserStatus.USER_STATUS_INVITED,
  createTime: new Date('2026-03-01T09:05:03Z'),
  updateTime: new Date('2026-03-02T09:05:03Z'),
})

test('the user response has all fields', () => {
  expect(userResponse(user)).toEqual({
    user_id: '7',
    organisation_id: '2',
    first_name: 'Ada',
    last_name: 'Byron',
    email: 'Ada@example.org',
    user_type: 'standard',
    status: 'invited',
    telephone_land: '',
    invited_by_user_id: '',
    time_created: '2026-03-01 09:05:03',
    time_last_modified: '2026-03-02 09:05:03',
  })
})

test('the response of a new user has the documented fields', () => {
  expect(createdUserResponse(user)).toEqual({
    id: '7',
    user_id: '7',
    data: {
      organisation_id: '2',
      first_name: 'Ada',
      last_name: 'Byron',
      email: 'Ada@example.org',
      user_type: 'standard',
      status: 'invited',
      time_created: '2026-03-01 09:05:03',
    },
  })
})
