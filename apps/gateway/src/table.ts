import { apiKeyRoutes } from './api-key/api-key-routes.ts'
import { idRoutes } from './id/id-routes.ts'
import { jobRoutes } from './job/job-routes.ts'
import { mediaRoutes } from './media/media-routes.ts'
import { organisationRoutes } from './organisation/organisation-routes.ts'
import type { Route } from './route.ts'
import { userRoutes } from './user/user-routes.ts'
import { videoRoutes } from './video/video-routes.ts'

/** Everything that the gateway answers below `/v2`; what is not here does not exist. */
export const routes: readonly Route[] = [
  ...apiKeyRoutes,
  ...videoRoutes,
  ...mediaRoutes,
  ...userRoutes,
  ...organisationRoutes,
  ...idRoutes,
  ...jobRoutes,
]
