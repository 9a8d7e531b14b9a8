import { useEffect, useRef, useState } from 'react'
import { entrance, type PreviewPlace } from '~/store/preview'
import css from './PreviewPanel.module.css'

/** It may run scripts and have forms; it may not lead the page around it anywhere, and gets no camera or the like. */
const STRANGER = 'allow-scripts allow-forms allow-popups allow-modals allow-downloads'
const OWN_HOST = `${STRANGER} allow-same-origin`

interface Props {
  readonly place: PreviewPlace
  readonly token: string
  readonly title: string
}

/** The frame with the program. It stays when the token is renewed; only the cookie is another one then. */
export function Pane({ place, token, title }: Props) {
  const [first] = useState(token)
  const isOwnHost = place.framed === place.host
  return (
    <>
      <iframe
        className={css.pane}
        title={title}
        src={entrance(place.framed, first)}
        // A host of its own is a stranger to this page already, and an application needs its storage.
        sandbox={isOwnHost ? OWN_HOST : STRANGER}
        referrerPolicy="no-referrer"
        allow=""
      />
      {token !== first && <Renewal key={token} address={entrance(place.framed, token)} />}
    </>
  )
}

/** Brings the new token to the preview, in a frame that nobody sees, and goes as soon as it is there. */
function Renewal({ address }: { address: string }) {
  const [isDone, setDone] = useState(false)
  const frame = useRef<HTMLIFrameElement>(null)
  useEffect(() => {
    const { current } = frame
    const done = () => setDone(true)
    current?.addEventListener('load', done)
    return () => current?.removeEventListener('load', done)
  }, [])
  if (isDone) return null
  return <iframe ref={frame} hidden title="Renewal of the preview's cookie" src={address} sandbox="" />
}
