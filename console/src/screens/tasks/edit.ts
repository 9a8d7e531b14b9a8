import type { components } from '~/api/schema'
import type { Task } from '~/api/types'

type TaskEdit = components['schemas']['TaskEdit']

export const EDIT_FIELDS = [
  'title',
  'description',
  'priority',
  'timeout_minutes',
  'queue_timeout_minutes',
  'max_retries',
] as const satisfies readonly (keyof TaskEdit)[]

export type EditField = (typeof EDIT_FIELDS)[number]

/** The fields of a task as text. */
export type EditDraft = Readonly<Record<EditField, string>>

export function editDraftOf(task: Task): EditDraft {
  return Object.fromEntries(EDIT_FIELDS.map((name) => [name, String(task[name] ?? '')])) as EditDraft
}

/** The fields that differ from the task. The server checks the values. */
export function changed(task: Task, draft: EditDraft): TaskEdit {
  const before = editDraftOf(task)
  const fields = EDIT_FIELDS.filter((name) => draft[name] !== before[name])
  return Object.fromEntries(fields.map((name) => [name, sentAs(name, draft[name])])) as TaskEdit
}

/** A number where the server expects one. Other texts are sent as they are, so that the server names the error. */
function sentAs(name: EditField, typed: string): string | number {
  const isNumber = name.endsWith('_minutes') || name === 'max_retries'
  const value = Number(typed)
  return isNumber && typed.trim() !== '' && Number.isFinite(value) ? value : typed
}
