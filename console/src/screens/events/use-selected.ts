import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Echoes } from '~/store/echoes'

/** A held key selects many events, and browsers limit the rate of address changes. */
const STILL_MS = 200

/** The selected event, synchronised with the address. */
export function useSelected(at: number | undefined) {
  const navigate = useNavigate({ from: '/console/sandboxes/$sandboxId' })
  const [selected, select] = useState(at)
  const [echoes] = useState(() => new Echoes<number | undefined>())
  useEffect(() => {
    if (!echoes.hears(at)) select(at)
  }, [at, echoes])
  useEffect(() => {
    if (selected === at) return
    const timer = setTimeout(() => {
      echoes.name(selected)
      void navigate({ search: (before) => ({ ...before, at: selected }), replace: true })
    }, STILL_MS)
    return () => clearTimeout(timer)
  }, [selected, at, navigate, echoes])
  return [selected, select] as const
}
