import { expect, test } from 'vitest'
import { Echoes } from '~/store/echoes'

test('a local change is an echo when its event arrives', () => {
  const echoes = new Echoes<number>()
  echoes.name(3)
  echoes.name(4)
  expect(echoes.hears(3)).toBe(true)
  echoes.name(5)
  expect([4, 5].map((each) => echoes.hears(each))).toEqual([true, true])
})

test('a change after the last echo and changes of others are new', () => {
  const echoes = new Echoes<number | undefined>()
  expect(echoes.hears(3)).toBe(false)
  echoes.name(3)
  expect(echoes.hears(3)).toBe(true)
  expect(echoes.hears(3)).toBe(false)
  echoes.name(4)
  expect(echoes.hears(undefined)).toBe(false)
  expect(echoes.hears(4)).toBe(false)
})
