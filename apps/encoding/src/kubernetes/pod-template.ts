import type { V1PodTemplateSpec } from '@kubernetes/client-node'

/** A pod template of the Kubernetes API. */
export type PodTemplate = V1PodTemplateSpec & { spec: NonNullable<V1PodTemplateSpec['spec']> }

/** The container that encodes. Its exit code reports the outcome. */
export const WORKER_CONTAINER = 'worker'

/**
 * Parses the pod template from JSON. Operators set its image, service account, volumes and
 * tolerations. The executor adds the chunks and the resources. Throws an error that describes an
 * invalid template.
 */
export function readPodTemplate(text: string): PodTemplate {
  const template: unknown = JSON.parse(text)
  const { spec } = (template ?? {}) as Partial<PodTemplate>
  if (typeof spec !== 'object' || !Array.isArray(spec.containers)) throw new Error('must be a pod template with spec.containers')
  if (!spec.containers.some(({ name }) => name === WORKER_CONTAINER)) throw new Error(`must have a container named ${WORKER_CONTAINER}`)
  return template as PodTemplate
}
