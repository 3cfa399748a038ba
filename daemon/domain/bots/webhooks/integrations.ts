// The services that public servers know by name. Of most of them natter shows the payload as it is.

/** Where the name to show is not the name with a capital letter. */
const shownNames: Readonly<Record<string, string>> = {
  alertmanager: 'Prometheus Alertmanager',
  ansibletower: 'Ansible Tower',
  appfollow: 'AppFollow',
  appveyor: 'AppVeyor',
  azuredevops: 'AzureDevOps',
  bitbucket3: 'Bitbucket Server',
  bitbucket2: 'Bitbucket',
  canarytoken: 'Thinkst Canarytokens',
  circleci: 'CircleCI',
  github: 'GitHub',
  githubsponsors: 'GitHub Sponsors',
  gitlab: 'GitLab',
  gocd: 'GoCD',
  gosquared: 'GoSquared',
  hellosign: 'HelloSign',
  helloworld: 'Hello World',
  homeassistant: 'Home Assistant',
  ifttt: 'IFTTT',
  json: 'JSON formatter',
  newrelic: 'New Relic',
  opencollective: 'Open Collective',
  openproject: 'OpenProject',
  opensearch: 'OpenSearch',
  pagerduty: 'PagerDuty',
  pivotal: 'Pivotal Tracker',
  reviewboard: 'Review Board',
  rhodecode: 'RhodeCode',
  slack_incoming: 'Slack-compatible webhook',
  sonarqube: 'SonarQube',
  travis: 'Travis CI',
  uptimerobot: 'UptimeRobot',
  wordpress: 'WordPress',
}

const names =
  'airbrake airbyte alertmanager ansibletower appfollow appveyor azuredevops beanstalk basecamp beeminder bitbucket3 bitbucket2 buildbot canarytoken circleci clubhouse codeship crashlytics dialogflow delighted dropbox errbit flock freshdesk freshping freshstatus front gitea github githubsponsors gitlab gocd gogs gosquared grafana greenhouse groove harbor hellosign helloworld heroku homeassistant ifttt insping intercom jira jotform json librato lidarr linear mention netlify newrelic opencollective openproject opensearch opsgenie pagerduty papertrail patreon pingdom pivotal radarr raygun reviewboard rhodecode rundeck semaphore sentry slack_incoming slack sonarqube sonarr splunk statuspage stripe taiga teamcity thinkst transifex travis trello updown uptimerobot wekan wordpress zapier zendesk zabbix'

/** As `register` lists them. OPEN: public servers also list the events and the options of some; natter knows none of them. */
export const incomingWebhookBots = names.split(' ').map(name => ({
  name,
  display_name: shownName(name),
  all_event_types: null,
  config_options: [],
  url_options: [],
}))

export function shownName(name: string): string {
  return Object.hasOwn(shownNames, name) ? shownNames[name]! : `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
}
