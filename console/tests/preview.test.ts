import { describe, expect, it } from 'vitest'
import { entrance, placeOf } from '~/store/preview'

const local = { domain: 'localhost', is_secure: false }

describe('placeOf', () => {
  it('gives a port its own host on a local server', () => {
    for (const hostname of ['localhost', '127.0.0.1']) {
      const place = placeOf(local, { hostname, port: '8000' }, 'sbx1', 3000)
      expect(place.host).toBe('http://3000-sbx1.localhost:8000')
      expect(place.framed).toBe(place.host)
    }
  })

  it('does not send a remote user to their own machine', () => {
    const place = placeOf(local, { hostname: 'viv.example.com', port: '' }, 'sbx1', 3000)
    expect(place.host).toBeUndefined()
    expect(place.framed).toBe('/sandboxes/sbx1/ports/3000')
  })

  it('uses the preview domain with https', () => {
    const previews = { domain: 'preview.example.com', is_secure: true }
    const place = placeOf(previews, { hostname: 'viv.example.com', port: '' }, 'sbx1', 3000)
    expect(place.framed).toBe('https://3000-sbx1.preview.example.com')
  })

  it('frames a path of the console where browsers block cookies', () => {
    const previews = { domain: 'preview.example.com', is_secure: false }
    const place = placeOf(previews, { hostname: 'viv.example.com', port: '8000' }, 'sbx1', 3000)
    expect(place.host).toBe('http://3000-sbx1.preview.example.com:8000')
    expect(place.framed).toBe('/sandboxes/sbx1/ports/3000')
  })

  it('puts the token into the first address', () => {
    expect(entrance('http://x.localhost', 'a+b')).toBe('http://x.localhost/?viv_token=a%2Bb')
  })
})
