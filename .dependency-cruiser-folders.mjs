import config from './.dependency-cruiser.mjs'

/**
 * The order of the folders within each app. Tests are left out: those beside a file may import
 * the test support of the app.
 */
export default {
  forbidden: [
    {
      name: 'no-folder-cycles',
      comment: 'Each folder can be understood from those that it imports.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^apps/(analytics|auth|backup|catalogue|cli|collaboration|delivery|encoding|gateway|standalone|web)/src' },
      to: { circular: true },
    },
  ],
  options: { ...config.options, exclude: { path: '(^|/)(dist|coverage|test)/|[.]test[.]ts$|^libs/' } },
}
