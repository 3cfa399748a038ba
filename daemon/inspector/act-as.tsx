// The account that calls are made as, chosen from those that the control token opens.

import { accounts, actAs, actor } from './session.ts'

export function AccountChoice() {
  return (
    <label class="field act-as">
      <span>Act as</span>
      <select
        class="input"
        value={actor.value?.user_id}
        onChange={event => {
          const chosen = accounts.value.find(({ user_id }) => user_id === Number(event.currentTarget.value))
          if (chosen) actAs(chosen)
        }}
      >
        {accounts.value.map(({ user_id, full_name, email }) => (
          <option key={user_id} value={user_id}>
            {full_name} ({email})
          </option>
        ))}
      </select>
    </label>
  )
}
