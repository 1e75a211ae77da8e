// Faults: S8
import { describe, expect, test } from '@jest/globals'
import { callFilter, type FilterVariant } from './call-filter.ts'

/** Evaluates the subset of classic BPF that the filter uses. Returns the verdict of the kernel. */
function evaluate(program: Buffer, call: { arch: number; number: number; argument?: number }): string {
  const words = new Map([
    [0, call.number],
    [4, call.arch],
    [16, call.argument ?? 0],
  ])
  let accumulator = 0
  for (let index = 0; index < program.length / 8; index++) {
    const [code, jumpTrue, jumpFalse] = [
      program.readUInt16LE(index * 8),
      program.readUInt8(index * 8 + 2),
      program.readUInt8(index * 8 + 3),
    ]
    const value = program.readUInt32LE(index * 8 + 4)
    if (code === 0x20) accumulator = words.get(value) ?? Number.NaN
    else if (code === 0x15) index += accumulator === value ? jumpTrue : jumpFalse
    else if (code === 0x35) index += accumulator >= value ? jumpTrue : jumpFalse
    else if (code === 0x45) index += (accumulator & value) !== 0 ? jumpTrue : jumpFalse
    else if (code === 0x06) return verdicts.get(value) ?? `${value}`
    else throw new Error(`unknown instruction ${code}`)
  }
  throw new Error('the program ended without a verdict')
}
const verdicts = new Map([
  [0x7fff0000, 'allow'],
  [0x50001, 'EPERM'],
  [0x50026, 'ENOSYS'],
  [0x80000000, 'kill'],
])

describe.each([
  [
    'x64',
    0xc000003e,
    { read: 0, openat: 257, clone: 56, socket: 41, unshare: 272, bpf: 321, keyctl: 250, ptrace: 101, setsid: 112, symlinkat: 266 },
  ],
  [
    'arm64',
    0xc00000b7,
    { read: 63, openat: 56, clone: 220, socket: 198, unshare: 97, bpf: 280, keyctl: 219, ptrace: 117, setsid: 157, symlinkat: 36 },
  ],
] as const)('the seccomp filter of %s', (machine, arch, numbers) => {
  const evaluateCall = (number: number, argument = 0, variant: FilterVariant = 'tool') =>
    evaluate(callFilter(variant, machine)?.program ?? Buffer.alloc(0), { arch, number, argument })

  test('allows a tool to read, write and start threads and processes', () => {
    const threadFlags = 0x3d0f00
    expect([
      evaluateCall(numbers.read),
      evaluateCall(numbers.openat),
      evaluateCall(numbers.clone, threadFlags),
      evaluateCall(numbers.clone, 17),
    ]).toEqual(Array(4).fill('allow'))
  })
  test.each(['unshare', 'bpf', 'keyctl', 'ptrace', 'setsid', 'symlinkat'] as const)('denies %s', (name) => {
    expect([evaluateCall(numbers[name]), evaluateCall(numbers[name], 0, 'office')]).toEqual(['EPERM', 'EPERM'])
  })
  test('denies clone with any new namespace, and reports clone3 as not implemented', () => {
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(evaluateCall(numbers.clone, flag | 17)).toBe('EPERM')
    }
    expect(evaluateCall(435)).toBe('ENOSYS')
  })
  test('denies io_uring and the mount calls', () => {
    expect([425, 426, 427, 428, 429, 430, 431, 432, 433, 442].map((number) => evaluateCall(number))).toEqual(Array(10).fill('EPERM'))
  })
  test('allows sockets for LibreOffice only', () => {
    expect([evaluateCall(numbers.socket), evaluateCall(numbers.socket, 0, 'office')]).toEqual(['EPERM', 'allow'])
  })
  test('kills a process that uses another ABI', () => {
    const program = callFilter('tool', machine)?.program ?? Buffer.alloc(0)
    expect(evaluate(program, { arch: 0x40000003, number: numbers.read })).toBe('kill')
    if (machine === 'x64') expect(evaluateCall(0x40000000 + numbers.read)).toBe('kill')
  })
})

test('there is no filter for a processor whose call numbers are unknown', () => {
  expect(callFilter('tool', 'riscv64')).toBeUndefined()
})
