// Messages that begin with /poll or /todo.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseWidget } from '../../../daemon/domain/markdown/widgets.ts'

describe('widgets', () => {
  test('a poll has a question and options', () => {
    assert.deepEqual(parseWidget('/poll Lunch?\n- Pizza\n\n* Soup\nBread'), {
      widget_type: 'poll',
      extra_data: { question: 'Lunch?', options: ['Pizza', 'Soup', 'Bread'] },
    })
    assert.deepEqual(parseWidget('/poll'), { widget_type: 'poll', extra_data: { question: '', options: [] } })
  })

  test('a list of tasks has a title, and tasks with or without a description', () => {
    assert.deepEqual(parseWidget('/todo Release\nTag: the commit\nTell people'), {
      widget_type: 'todo',
      extra_data: {
        task_list_title: 'Release',
        tasks: [
          { task: 'Tag', desc: 'the commit' },
          { task: 'Tell people', desc: '' },
        ],
      },
    })
  })

  test('any other message has none', () => {
    for (const text of ['hello', '/polls', ' /poll x', '/me waves', ''])
      assert.equal(parseWidget(text), undefined, text)
  })
})
