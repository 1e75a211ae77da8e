/**
 * Returns the arguments of `go build` and `go install` for programs of tests. Without inlining and debug data, the
 * compiler needs about 60 % of the time. Tests do not depend on the speed of these programs.
 */
export function quickGoBuild(linkerFlags: readonly string[] = []): string[] {
  return ['-trimpath', '-gcflags=all=-l -dwarf=false', `-ldflags=${['-s -w', ...linkerFlags].join(' ')}`]
}
