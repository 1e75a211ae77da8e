/**
 * Condition of `setting s` for being the profile that `video v` of `organisation o` names, and for being the one that it has: the named one,
 * else the default one of its organisation. Each is a look-up or two by the unique index on the id's text, a few microseconds a video.
 */
export const NAMED_SETTING = 's.organisation_id = v.organisation_id and s.setting_id::text = v.setting_id'
export const EFFECTIVE_SETTING = `s.organisation_id = v.organisation_id and s.setting_id::text in (v.setting_id, o.default_setting_id)
  order by s.setting_id::text = v.setting_id desc limit 1`
