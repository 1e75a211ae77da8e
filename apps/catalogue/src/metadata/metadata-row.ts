/** The entries of a video `v`, by name: null for none. At most 100 rows, which lie together in the primary key. */
export const METADATA_ENTRIES = `(select jsonb_agg(jsonb_build_object('name', e.name, 'value', e.value, 'private', e.private,
      'readOnly', e.read_only) order by e.name) from metadata_entry e where e.video_id = v.video_id)`
