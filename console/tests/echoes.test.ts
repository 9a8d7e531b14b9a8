import { expect, test } from 'vitest'
import { Echoes } from '~/store/echoes'

test('what was named here is an echo when it is heard, in whatever distance', () => {
  const echoes = new Echoes<number>()
  echoes.name(3)
  echoes.name(4)
  expect(echoes.hears(3)).toBe(true)
  echoes.name(5)
  expect([4, 5].map((each) => echoes.hears(each))).toEqual([true, true])
})

test('the same is news once the last echo was heard, and what others named is always', () => {
  const echoes = new Echoes<number | undefined>()
  expect(echoes.hears(3)).toBe(false)
  echoes.name(3)
  expect(echoes.hears(3)).toBe(true)
  expect(echoes.hears(3)).toBe(false)
  echoes.name(4)
  expect(echoes.hears(undefined)).toBe(false)
  expect(echoes.hears(4)).toBe(false)
})
