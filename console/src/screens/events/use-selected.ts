import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Echoes } from '~/store/echoes'

/** A key that is held goes through many events, and a browser lets a page change its address only so often. */
const STILL_MS = 200

/** The event that is looked at: the one of the address, which follows. */
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
