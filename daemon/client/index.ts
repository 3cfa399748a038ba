// natter/client: what the package exports.

export type { EventType } from '../api/event-types.ts'
export type { Bot, BotAccount, BotHandler, BotMessage, Destination } from './bot.ts'
export { type Client, createClient, type RequestOptions, type Resources } from './client.ts'
export type { Event, EventOptions, GapEvent, Message } from './events.ts'
export { type ClientOptions, NatterError, type Reply } from './sender.ts'
