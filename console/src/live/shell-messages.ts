import type { components } from '~/api/schema'

/** Participant of a shell, and whether the participant may type. */
export type Participant = components['schemas']['ShellParticipant']
export type Role = Participant['role']

export interface Size {
  readonly cols: number
  readonly rows: number
}

/** Messages of the server on the socket of a shell. */
export type ShellMessage =
  | ({ readonly type: 'auth_ok'; readonly session_id: string; readonly role: Role } & Size)
  | { readonly type: 'stdout'; readonly data: string }
  | { readonly type: 'missed'; readonly bytes: number }
  | { readonly type: 'presence'; readonly people: readonly Participant[] }
  | ({ readonly type: 'size' } & Size)
  | { readonly type: 'exit'; readonly code: number; readonly cause: string }
  | { readonly type: 'error'; readonly code: string; readonly message: string }
  | { readonly type: 'pong' }

/** Messages of the client. The first is `auth` without a token, because the browser sends its session cookie. */
export type ShellRequest =
  | {
      readonly type: 'auth'
      readonly session_id: string
      readonly observe?: boolean
      readonly window: number
      readonly cols?: number
      readonly rows?: number
    }
  | { readonly type: 'stdin'; readonly data: string }
  | ({ readonly type: 'resize' } & Size)
  | { readonly type: 'seen'; readonly characters: number }
  | { readonly type: 'ping' }
