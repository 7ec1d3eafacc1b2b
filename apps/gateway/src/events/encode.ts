// Writes an event as its followers read it, within a bound.
import type { GatewayEvent } from "./shapes.ts";

/** What is larger is told without what makes it large; it can be read in full elsewhere. */
const MAX_EVENT_CHARS = 2 ** 20;

const encoder = new TextEncoder();

/** One block of a stream of server-sent events. */
export function encodeEvent(event: GatewayEvent): Uint8Array {
  const whole = JSON.stringify(event);
  const data = whole.length <= MAX_EVENT_CHARS ? whole : JSON.stringify(withoutContents(event));
  return encoder.encode(`id: ${event.id}\nevent: ${event.type}\ndata: ${data}\n\n`);
}

function withoutContents(event: GatewayEvent): GatewayEvent {
  switch (event.type) {
    case "accepted":
    case "message": {
      const { message: _large, ...rest } = event;
      return rest;
    }
    case "tool_start": {
      const { id, name } = event.call;
      return { ...event, call: { id, name } };
    }
    case "approval":
      return { ...event, approval: { ...event.approval, arguments: {} } };
    case "call":
      return { ...event, call: withoutItems(event.call) };
    case "hello":
    case "reset":
      return { ...event, running: event.running.map(withoutLargeContents) };
    default:
      return event;
  }
}

type Running = Extract<GatewayEvent, { type: "hello" }>["running"][number];

const withoutLargeContents = ({ call, prompt, tools, ...turn }: Running): Running => ({
  ...turn,
  prompt: prompt && { entryId: prompt.entryId },
  call: call && withoutItems(call),
  tools: tools.map(({ id, name }) => ({ id, name })),
});

const withoutItems = (call: NonNullable<Running["call"]>): NonNullable<Running["call"]> => ({
  ...call,
  messages: { ...call.messages, items: null },
});
