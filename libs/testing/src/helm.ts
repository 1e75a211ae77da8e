import { findProgram } from './programs.ts'
import { builtPrograms } from './s3.ts'

/** Helm of this machine; undefined when there is none. */
export function helmPath(): string | undefined {
  return findProgram(['helm'], [builtPrograms])
}

/** kubectl of this machine; undefined when there is none. */
export function kubectlPath(): string | undefined {
  return findProgram(['kubectl'], [builtPrograms])
}

/** The checker of manifests against schemas; undefined when there is none. */
export function kubeconformPath(): string | undefined {
  return findProgram(['kubeconform'], [builtPrograms])
}

/** The linter of manifests; undefined when there is none. */
export function kubeScorePath(): string | undefined {
  return findProgram(['kube-score'], [builtPrograms])
}
