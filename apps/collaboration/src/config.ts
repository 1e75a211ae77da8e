import { readEnvironment } from '@vitascope/config'
import { type GrpcServiceConfig, readGrpcServiceConfig } from '@vitascope/service'

/** The settings of the collaboration service. */
export interface CollaborationConfig extends GrpcServiceConfig {
  authAddress: string
  catalogueAddress: string
}

export function readConfig(env: NodeJS.ProcessEnv): CollaborationConfig {
  const read = readEnvironment(env)
  const config = {
    ...readGrpcServiceConfig(read, 'COLLABORATION'),
    authAddress: read.address('VITASCOPE_AUTH_ADDRESS'),
    catalogueAddress: read.address('VITASCOPE_CATALOGUE_ADDRESS'),
  }
  read.check()
  return config
}
