/** The addresses that may have the files of `video v` of `organisation o`: its own rules, else those of its organisation. */
export const BINDING_IPS = `case when v.allowed_ips = '{}' then o.allowed_ips else v.allowed_ips end`
