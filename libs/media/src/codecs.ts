/**
 * Codecs that a source may use, by ffprobe's names. Other decoders are never opened, because each
 * is additional code that parses untrusted bytes.
 */
export const videoCodecs: ReadonlySet<string> = new Set(
  'h264 hevc vp8 vp9 av1 mpeg4 mpeg2video mpeg1video msmpeg4v1 msmpeg4v2 msmpeg4v3 wmv1 wmv2 wmv3 vc1 flv1 h263 theora prores dnxhd mjpeg vp6 vp6f dvvideo rawvideo'.split(
    ' ',
  ),
)

export const audioCodecs: ReadonlySet<string> = new Set(
  [
    'aac mp3 mp2 mp1 ac3 eac3 opus vorbis flac alac dts truehd wmav1 wmav2 wmapro amr_nb amr_wb nellymoser speex',
    'adpcm_ms adpcm_ima_wav adpcm_ima_qt adpcm_swf pcm_alaw pcm_mulaw pcm_u8 pcm_s8 pcm_s16le pcm_s16be pcm_s24le pcm_s24be pcm_s32le pcm_s32be',
    'pcm_f32le pcm_f32be pcm_f64le pcm_f64be pcm_bluray pcm_dvd',
  ]
    .join(' ')
    .split(' '),
)

/** Decoders whose ffmpeg name differs from their codec. */
const decoderNames =
  'libdav1d libaom-av1 libvpx libvpx-vp9 msmpeg4 flv mp3float mp2float mp1float libopus libvorbis libspeex amrnb amrwb libopencore_amrnb libopencore_amrwb dca'

/**
 * Codecs of subtitles and cover pictures. ffprobe opens all streams of a file; an encode opens only
 * the used ones.
 */
const otherStreams =
  'srt subrip ass ssa mov_text text webvtt dvdsub dvd_subtitle dvbsub dvb_subtitle pgssub hdmv_pgs_subtitle xsub cc_dec eia_608 libzvbi_teletextdec png'

/**
 * Returns the options before the source's `-i`: one demuxer, local files only, listed decoders
 * only, and a maximum number of pixels.
 */
export function inputGuards(demuxer: string, maxPixels: number, tool: 'ffprobe' | 'ffmpeg'): string[] {
  return [
    ['-f', demuxer],
    ['-format_whitelist', demuxer],
    ['-protocol_whitelist', 'file'],
    ['-codec_whitelist', tool === 'ffprobe' ? [...decoders, ...otherStreams.split(' ')].join(',') : decoders.join(',')],
    ['-max_pixels', String(maxPixels)],
  ].flat()
}

const decoders = [...videoCodecs, ...audioCodecs, ...decoderNames.split(' ')]
