import type { Dispatch, SetStateAction } from 'react'
import { fieldMessage } from '../api/client.ts'

type TextName<T> = { [K in keyof T]: T[K] extends string ? K : never }[keyof T] & string
type Change = { currentTarget: { value: string } }

/**
 * Returns a function that connects an input with a text of a form: its value, its change, and its message of
 * the error with which the form was rejected.
 */
export function bindTexts<T extends object>(form: T, setForm: Dispatch<SetStateAction<T>>, error: unknown) {
  return (name: TextName<T>) => ({
    value: String(form[name]),
    error: fieldMessage(error, name),
    onChange: ({ currentTarget: { value } }: Change) => setForm((before) => ({ ...before, [name]: value })),
  })
}

/** Returns a tag as the platform accepts it: without white space. */
export function joinWords(tag: string): string {
  return tag.trim().replaceAll(/\s+/g, '-')
}
