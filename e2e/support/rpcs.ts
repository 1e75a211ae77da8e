import { createFileRegistry, type DescField, type DescMessage, fromBinary, ScalarType, toBinary } from '@bufbuild/protobuf'
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { readDescriptorSet } from '@vitascope/proto/descriptors'
import type { Values } from './operations.ts'

export const AREAS = ['auth', 'catalogue', 'encoding', 'collaboration', 'analytics'] as const
/** Service that implements an rpc. */
export type Area = (typeof AREAS)[number]

/** An rpc of the protos. */
export interface Rpc {
  area: Area
  /** `/vitascope.catalogue.v1.VideoService/GetVideo` */
  path: string
  /** True if it changes nothing. The name of such an rpc begins with Get, List, Find or Check. */
  isRead: boolean
  /** True if its response is a stream. */
  isStream: boolean
  /** Returns a request with a value in every field. Text fields with the name of one of these ids contain this id. */
  request(values: Values): Buffer
}

/** Package of the rpcs that all of these services have. */
const COMMON_PACKAGE = 'vitascope.service.v1.'

/** Returns every rpc under proto/vitascope. An rpc of all services is returned once for each. */
export function allRpcs(): Rpc[] {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readDescriptorSet()))
  return [...registry].flatMap((type) => {
    if (type.kind !== 'service') return []
    const areas = AREAS.filter((name) => type.typeName.startsWith(COMMON_PACKAGE) || type.typeName.startsWith(`vitascope.${name}.v1.`))
    return areas.flatMap((area) =>
      type.methods.map((method) => ({
        area,
        path: `/${type.typeName}/${method.name}`,
        isRead: /^(Get|List|Find|Check)/.test(method.name),
        isStream: method.methodKind === 'server_streaming',
        request: (values: Values) => Buffer.from(toBinary(method.input, filled(method.input, values).message)),
      })),
    )
  })
}

const MAX_DEPTH = 4

function filled(type: DescMessage, values: Values, depth = 0): ReflectMessage {
  const message = reflect(type)
  for (const field of type.fields) fill(message, field, values, depth)
  return message
}

function fill(message: ReflectMessage, field: DescField, values: Values, depth: number): void {
  const isFilled = (type: DescMessage) => depth < MAX_DEPTH && !type.typeName.startsWith('google.protobuf.')
  if (field.fieldKind === 'scalar') message.set(field, scalar(field.scalar, field.name, values))
  else if (field.fieldKind === 'enum') message.set(field, field.enum.values[1]?.number ?? 0)
  else if (field.fieldKind === 'message' && isFilled(field.message)) message.set(field, filled(field.message, values, depth + 1))
  else if (field.fieldKind === 'list') {
    const list = message.get(field)
    if (field.listKind === 'scalar') list.add(scalar(field.scalar, field.name.replace(/s$/, ''), values))
    else if (field.listKind === 'message' && isFilled(field.message)) list.add(filled(field.message, values, depth + 1))
  }
}

const WIDE: readonly ScalarType[] = [ScalarType.INT64, ScalarType.UINT64, ScalarType.SINT64, ScalarType.FIXED64, ScalarType.SFIXED64]

function scalar(type: ScalarType, name: string, values: Values): string | boolean | number | bigint | Uint8Array {
  if (type === ScalarType.STRING) return values[name] ?? 'something'
  if (type === ScalarType.BOOL) return true
  if (type === ScalarType.BYTES) return new Uint8Array([1])
  return WIDE.includes(type) ? 1n : 1
}
