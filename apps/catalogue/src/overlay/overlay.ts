import { DomainError, type FieldError, requireValid } from '@vitascope/errors'
import { applyMask, checkText, isId } from '@vitascope/request'
import { findAddressProblem } from '../rules/web-address.ts'

/** The fields of an overlay that users set. */
export interface OverlayFields {
  /** The media whose videos show the overlay. Empty if no video shows it. */
  mediaId: string
  disabled: boolean
  atEnd: boolean
  /** Start and end in seconds. Either both are set or neither. */
  startSeconds: number | undefined
  endSeconds: number | undefined
  title: string
  description: string
  imagePath: string
  linkText: string
  linkAction: string
  linkUrl: string
  linkTarget: string
  linkJavascriptCode: string
  language: string
  /** Width and height in pixels. */
  width: number | undefined
  height: number | undefined
}

export interface Overlay extends OverlayFields {
  overlayId: string
  organisationId: string
  createTime: Date
  updateTime: Date
}

/** The part of an overlay that players get. */
export type OverlayContent = Omit<Overlay, 'organisationId' | 'mediaId' | 'disabled' | 'createTime' | 'updateTime'>

/** Maximum number of overlays per media. Every response with a video contains all of them. */
export const MAX_OVERLAYS = 25
/** 999:59 in seconds. */
const MAX_SECONDS = 59_999
const MAX_PIXELS = 8_192

const PATHS = new Map<string, readonly (keyof OverlayFields)[]>([
  ['media_id', ['mediaId']],
  ['disabled', ['disabled']],
  ['at_end', ['atEnd']],
  ['during', ['startSeconds', 'endSeconds']],
  ['title', ['title']],
  ['description', ['description']],
  ['image_path', ['imagePath']],
  ['link_text', ['linkText']],
  ['link_action', ['linkAction']],
  ['link_url', ['linkUrl']],
  ['link_target', ['linkTarget']],
  ['link_javascript_code', ['linkJavascriptCode']],
  ['language', ['language']],
  ['width', ['width']],
  ['height', ['height']],
])

/** Returns the fields `current` with the masked fields of `input`. Throws `invalid` with every invalid field. */
export function mergeOverlay(current: OverlayFields, input: OverlayFields, mask: readonly string[]): OverlayFields {
  const { fields, problems } = applyMask(current, input, mask, PATHS)
  requireValid([...problems, ...checkFields(fields)])
  return fields
}

/** Throws `invalid` with every invalid field. */
export function checkOverlay(fields: OverlayFields): void {
  const problems = checkFields(fields)
  requireValid(problems)
}

export function overlaysFull(): DomainError {
  return new DomainError('failed_precondition', 'OVERLAYS_FULL', `a media has at most ${MAX_OVERLAYS} overlays; delete one first`)
}

function checkFields(fields: OverlayFields): FieldError[] {
  const { mediaId, startSeconds, endSeconds, language } = fields
  return [
    ...(mediaId === '' || isId(mediaId) ? [] : [{ field: 'media_id', message: 'must be an id, or empty for none' }]),
    ...checkTimes(startSeconds, endSeconds),
    ...checkText('title', fields.title, { min: 1, max: 255 }),
    ...checkText('description', fields.description, { max: 1_000 }),
    ...checkAddress('image_path', fields.imagePath, { paths: true }),
    ...checkText('link_text', fields.linkText, { max: 255 }),
    ...checkText('link_action', fields.linkAction, { max: 50 }),
    ...checkAddress('link_url', fields.linkUrl, { paths: false }),
    ...checkText('link_target', fields.linkTarget, { max: 50 }),
    ...checkText('link_javascript_code', fields.linkJavascriptCode, { max: 5_000 }),
    ...(language === '' || /^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,5}$/.test(language)
      ? []
      : [{ field: 'language', message: 'must be a language code such as en or pt-BR' }]),
    ...checkPixels('width', fields.width),
    ...checkPixels('height', fields.height),
  ]
}

function checkTimes(start: number | undefined, end: number | undefined): FieldError[] {
  if (start === undefined && end === undefined) return []
  if (start === undefined || end === undefined) return [{ field: 'during', message: 'must have a start and an end' }]
  const isInvalid = [start, end].some((seconds) => !Number.isInteger(seconds) || seconds < 0 || seconds > MAX_SECONDS)
  if (isInvalid) return [{ field: 'during', message: 'must be from 00:00 to 999:59' }]
  return end < start ? [{ field: 'during', message: 'must not end before it starts' }] : []
}

function checkAddress(field: string, address: string, { paths }: { paths: boolean }): FieldError[] {
  const problems = checkText(field, address, { max: 2_048 })
  const problem = problems.length > 0 ? undefined : findAddressProblem(address, { paths })
  return problem === undefined ? problems : [{ field, message: problem }]
}

function checkPixels(field: string, pixels: number | undefined): FieldError[] {
  return pixels === undefined || (Number.isInteger(pixels) && pixels >= 1 && pixels <= MAX_PIXELS)
    ? []
    : [{ field, message: `must be from 1 to ${MAX_PIXELS}` }]
}
