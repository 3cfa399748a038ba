// Slots of the organization.

import { emoji } from '../../../../daemon/api/organization/emoji.ts'
import { linkifiers } from '../../../../daemon/api/organization/linkifiers.ts'
import { organization } from '../../../../daemon/api/organization/organization.ts'
import { pictures } from '../../../../daemon/api/organization/pictures.ts'
import { playgrounds } from '../../../../daemon/api/organization/playgrounds.ts'
import { settings } from '../../../../daemon/api/people/settings.ts'
import { pixel } from '../../../support/images.ts'
import { by, call, looksUp, order, type Slot, text, toggle, type World } from './slot.ts'

const picture = { filename: 'a.png', contentType: 'image/png', bytes: pixel.png }

export function organizationSlots(): readonly Slot[] {
  return [
    text(
      'organization',
      n => call(organization.update, { description: n }),
      w => w.realm_description,
    ),
    text(
      'linkifier',
      n =>
        call(linkifiers.update, {
          filter_id: 1,
          pattern: 'A(?P<id>[0-9]+)',
          url_template: `http://a.example/${n}/{id}`,
        }),
      w => by(w.realm_linkifiers, 1).url_template.split('/')[3],
    ),
    toggle(
      'setting of new users',
      yes => call(settings.updateDefaults, { starred_message_counts: !yes }),
      w => !w.realm_user_settings_defaults.starred_message_counts,
    ),
    looksUp(
      'second linkifier',
      (yes, w) =>
        yes
          ? call(linkifiers.add, { pattern: 'B(?P<id>[0-9]+)', url_template: 'http://b.example/{id}' })
          : call(linkifiers.remove, { filter_id: patternB(w).id }),
      w => patternB(w) !== undefined,
    ),
    looksUp(
      'playground',
      (yes, w) =>
        yes
          ? call(playgrounds.add, { name: 'a', pygments_language: 'Python', url_template: 'http://a.example/{code}' })
          : call(playgrounds.remove, { playground_id: w.realm_playgrounds[0].id }),
      w => w.realm_playgrounds.length > 0,
    ),
    toggle(
      'domain',
      yes =>
        call(yes ? organization.addDomain : organization.removeDomain, {
          domain: 'a.example',
          ...(yes && { allow_subdomains: true }),
        }),
      w => w.realm_domains.some(({ domain }: any) => domain === 'a.example'),
    ),
    order(
      'order of linkifiers',
      ordered_linkifier_ids => call(linkifiers.reorder, { ordered_linkifier_ids }),
      w => w.realm_linkifiers.map(({ id }: any) => id),
    ),
    toggle(
      'subdomains',
      yes => call(organization.changeDomain, { domain: 'b.example', allow_subdomains: yes }),
      w => w.realm_domains.find(({ domain }: any) => domain === 'b.example').allow_subdomains,
    ),
    toggle(
      'emoji',
      yes =>
        yes
          ? call(emoji.upload, {
              emoji_name: 'beans',
              file: picture,
            })
          : call(emoji.deactivate, { emoji_name: 'beans' }),
      w => Object.values<any>(w.realm_emoji).some(({ name, deactivated }) => name === 'beans' && !deactivated),
    ),
    toggle(
      'icon',
      yes => (yes ? call(pictures.uploadIcon, { file: picture }) : call(pictures.deleteIcon, {})),
      w => w.realm_icon_source === 'U',
    ),
  ]
}

function patternB({ realm_linkifiers }: World): any {
  return realm_linkifiers.find(({ pattern }: any) => pattern.startsWith('B'))
}
