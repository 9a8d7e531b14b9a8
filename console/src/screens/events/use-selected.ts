import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

/** A key that is held goes through many events, and a browser lets a page change its address only so often. */
const STILL_MS = 200

/** The event that is looked at: the one of the address, which follows. */
export function useSelected(at: number | undefined) {
  const navigate = useNavigate({ from: '/console/sandboxes/$sandboxId' })
  const [selected, select] = useState(at)
  useEffect(() => select(at), [at])
  useEffect(() => {
    if (selected === at) return
    const timer = setTimeout(() => {
      void navigate({ search: (before) => ({ ...before, at: selected }), replace: true })
    }, STILL_MS)
    return () => clearTimeout(timer)
  }, [selected, at, navigate])
  return [selected, select] as const
}
