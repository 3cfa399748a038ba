// Drift: which fields of endpoints and events differ from those of a recorded server, by natter replay --against natter.

import { useSignal } from '@preact/signals'
import type { drift } from '../../api/control/drift.ts'
import type { ReplyOf } from '../../api/define.ts'
import { Choice, useFresh } from '../parts/controls.tsx'
import { fullTime } from '../parts/format.ts'
import { Table } from '../parts/table.tsx'
import { control } from '../session.ts'

type Report = NonNullable<ReplyOf<typeof drift.show>['drift']>

export function Drift() {
  const which = useSignal('new')
  const { value, problem } = useFresh<Report | null>(async () => (await control('GET', '/drift')).drift)
  if (problem) return <p class="empty">{problem}</p>
  if (!value)
    return (
      <p class="empty">
        No report. <code>natter replay FILE --against natter</code> plays a recording of another server and sends it.
      </p>
    )
  const { time, recording, calls, differences, left_out } = value
  const news = differences.filter(({ accepted }) => !accepted)
  const shown = which.value === 'all' ? differences : news
  return (
    <>
      <p>
        <b>{recording}</b>, {count(calls, 'call')}, {fullTime(time)}: {count(news.length, 'difference')}, and{' '}
        {differences.length - news.length} accepted.
        {left_out > 0 && ` ${left_out.toLocaleString()} more are not listed.`}
      </p>
      {news.length < differences.length && (
        <Choice
          label="Differences to show"
          chosen={which}
          options={[
            ['new', 'new differences'],
            ['all', 'accepted ones, too'],
          ]}
        />
      )}
      {shown.length > 0 && (
        <Table
          label="Differences"
          heads={['Endpoint or event', 'Field', 'Differs in', 'Recorded', 'Here', 'Times', 'First call']}
          numbers={['Times', 'First call']}
        >
          {shown.map(({ where, field, kind, recorded, found, count: times, call, accepted }, index) => (
            <tr key={`${where} ${field} ${kind}`}>
              <td>{where !== shown[index - 1]?.where && <b>{where}</b>}</td>
              <td>
                <code>{field}</code>
              </td>
              <td>
                {kind}
                {accepted && ', accepted'}
              </td>
              <td class="text">{recorded}</td>
              <td class="text">{found}</td>
              <td class="number">{times}</td>
              <td class="number">{call}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString()} ${number === 1 ? noun : `${noun}s`}`
}
