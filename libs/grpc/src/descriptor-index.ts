import { createFileRegistry, type DescFile, fromBinary, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { readDescriptorSet } from '@vitascope/proto/descriptors'

/** Index for server reflection. Returns a descriptor file with all its imports, by file name or by a symbol in it. */
export interface DescriptorIndex {
  services(): string[]
  byFile(name: string): Uint8Array[] | undefined
  bySymbol(symbol: string): Uint8Array[] | undefined
}

export function indexDescriptors(): DescriptorIndex {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readDescriptorSet()))
  const withImports = (file: DescFile | undefined) => file && [...imports(file)].map((f) => toBinary(FileDescriptorProtoSchema, f.proto))
  return {
    services: () => [...registry].filter((type) => type.kind === 'service').map((service) => service.typeName),
    byFile: (name) => withImports(registry.getFile(name) ?? registry.getFile(name.replace(/\.proto$/, ''))),
    bySymbol: (symbol) => withImports((registry.get(symbol) ?? registry.get(symbol.slice(0, symbol.lastIndexOf('.'))))?.file),
  }
}

function imports(file: DescFile, seen = new Set<DescFile>()): Set<DescFile> {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const dependency of file.dependencies) imports(dependency, seen)
  return seen
}
