// Loaded into a daemon with NODE_OPTIONS=--import: defects of the program, each where a test asks for one. A row with the title
// "defect: apply" cannot be put into a table, a poll with the header X-Defect cannot be answered, and a webhook with
// "defect: webhook" in it cannot be read.

import http from 'node:http'

const { set } = Map.prototype
Map.prototype.set = function (key, value) {
  if (value?.title === 'defect: apply') throw new TypeError('the row cannot be put')
  return set.call(this, key, value)
}

const { writeHead } = http.ServerResponse.prototype
http.ServerResponse.prototype.writeHead = function (...args) {
  if (this.req.headers['x-defect']) throw new TypeError('the poll cannot be answered')
  return writeHead.apply(this, args)
}

const { parse } = JSON
JSON.parse = (text, ...rest) => {
  if (String(text).includes('defect: webhook') && String(text).includes('bot_email'))
    throw new TypeError('the webhook cannot be read')
  return parse(text, ...rest)
}
