import { readEnvironment, readServiceAddress } from '@vitascope/config'
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
    authAddress: readServiceAddress(read, 'AUTH'),
    catalogueAddress: readServiceAddress(read, 'CATALOGUE'),
  }
  read.check()
  return config
}
