import { findProgram } from './programs.ts'
import { builtProgramsDir } from './s3.ts'

/** Returns the path of Helm, or undefined if it is not installed. */
export function helmPath(): string | undefined {
  return findProgram(['helm'], [builtProgramsDir])
}

/** Returns the path of kubectl, or undefined if it is not installed. */
export function kubectlPath(): string | undefined {
  return findProgram(['kubectl'], [builtProgramsDir])
}

/** Returns the path of kubeconform, which validates manifests against schemas, or undefined if it is not installed. */
export function kubeconformPath(): string | undefined {
  return findProgram(['kubeconform'], [builtProgramsDir])
}

/** Returns the path of kube-score, a linter for manifests, or undefined if it is not installed. */
export function kubeScorePath(): string | undefined {
  return findProgram(['kube-score'], [builtProgramsDir])
}
