import { useQuery } from '@tanstack/react-query'
import { api, body } from '~/api/client'
import type { components } from '~/api/schema'

export type Credential = components['schemas']['GitCredential']

const NONE: readonly Credential[] = []

/** The stored credentials of the user for git hosts, without their tokens. */
export function useCredentials(): readonly Credential[] {
  const { data } = useQuery({
    queryKey: ['git', 'credentials'],
    queryFn: async () => (await body(api.GET('/api/v1/git/credentials'))).credentials,
  })
  return data ?? NONE
}
