import type { V1PodTemplateSpec } from '@kubernetes/client-node'

/** A pod template as the API has it. */
export type PodTemplate = V1PodTemplateSpec & { spec: NonNullable<V1PodTemplateSpec['spec']> }

/** The container that encodes; its exit code tells what became of the chunk. */
export const WORKER_CONTAINER = 'worker'

/**
 * Reads the template of the pods, as JSON: all that an operator decides of them, from image and service account to volumes and tolerations.
 * Throws what is wrong with it.
 */
export function readPodTemplate(text: string): PodTemplate {
  const template: unknown = JSON.parse(text)
  const { spec } = (template ?? {}) as Partial<PodTemplate>
  if (typeof spec !== 'object' || !Array.isArray(spec.containers)) throw new Error('must be a pod template with spec.containers')
  if (!spec.containers.some(({ name }) => name === WORKER_CONTAINER)) throw new Error(`must have a container named ${WORKER_CONTAINER}`)
  return template as PodTemplate
}
