// Takes the messages an engine returned, as the given ones where they say the same.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { kindOf, type Reading, refuse, refuseAt, takePlain } from "./plain-data.ts";

/**
 * A frozen list of messages. One that is a given message, or says the same as it, is that very
 * message; the others are frozen copies of the shape the contract knows (§1). What was given is
 * plain data and needs no second look, so the cost is what is new.
 */
export function takeMessages(
  reading: Reading,
  list: readonly unknown[],
  given: readonly AgentMessage[],
): AgentMessage[] {
  const places = findPlaces(given);
  const { length } = list;
  const taken: AgentMessage[] = [];
  // Most engines return what they were given, a tail of it, or either behind something new.
  let shift = 0;
  const tail = given.length - length;
  for (let index = 0; index < length; index++) {
    const item = list[index];
    let known = given[index + shift];
    if (item !== known && isObject(item)) {
      if (item === given[index + tail]) shift = tail;
      else shift = (places.ofObject(item) ?? index + shift) - index;
      known = given[index + shift];
    }
    if (item === known && known !== undefined) {
      taken.push(known);
      continue;
    }
    reading.path.push(index);
    if (item === undefined) refuse(index in list ? "is undefined" : "is a hole in the list");
    let message = takePlain(reading, item, known);
    if (message !== known) {
      const place = places.ofId(idOf(message));
      if (place !== undefined && place !== index + shift) {
        shift = place - index;
        message = takePlain(reading, message, given[place]);
      }
      if (message !== given[index + shift]) refuseOddMessage(reading, message);
    }
    reading.path.pop();
    taken.push(message as AgentMessage);
  }
  return taken;
}

/** One message that no given one stands for. */
export function takeMessage(reading: Reading, value: unknown): AgentMessage {
  const message = takePlain(reading, value);
  refuseOddMessage(reading, message);
  return message as AgentMessage;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Where a given message stands, by the object or by its id; looked up only when asked. */
function findPlaces(given: readonly AgentMessage[]) {
  let objects: Map<object, number> | undefined;
  let ids: Map<string, number> | undefined;
  // A host that freezes what it gives out gave out nothing that can still be changed.
  const frozen = given.length > 0 && Object.isFrozen(given[0]);
  return {
    ofObject(item: object): number | undefined {
      if (frozen && !Object.isFrozen(item)) return undefined;
      objects ??= new Map(given.map((message, index) => [message, index]));
      return objects.get(item);
    },
    ofId(id: string | undefined): number | undefined {
      if (id === undefined) return undefined;
      ids ??= new Map(given.flatMap((message, index) => withId(message, index)));
      return ids.get(id);
    },
  };
}

const withId = (message: AgentMessage, index: number): [string, number][] => {
  const id = idOf(message);
  return id === undefined ? [] : [[id, index]];
};

function idOf(message: unknown): string | undefined {
  const envelope = isRecord(message) ? message.__openclaw : undefined;
  const id = isRecord(envelope) ? envelope.id : undefined;
  return typeof id === "string" ? id : undefined;
}

/** What a message of each role must hold besides its content. */
const TEXTS: Record<string, readonly string[]> = {
  user: [],
  assistant: [],
  toolResult: ["toolCallId"],
  custom: ["customType"],
  bashExecution: ["command", "output"],
  compactionSummary: ["summary"],
  branchSummary: ["summary"],
} satisfies Record<AgentMessage["role"], readonly string[]>;
const WITH_CONTENT: ReadonlySet<unknown> = new Set(["user", "assistant", "toolResult", "custom"]);

/** For plain data: nothing that is read here can change or throw. */
function refuseOddMessage(reading: Reading, message: unknown): void {
  if (!isRecord(message)) refuse(`is ${kindOf(message)}; expected a message`);
  const { role, content } = message;
  if (typeof role !== "string" || !Object.hasOwn(TEXTS, role))
    refuseAt(
      reading,
      "role",
      `is ${nameOf(role)}; expected one of ${Object.keys(TEXTS).join(", ")}`,
    );
  for (const key of TEXTS[role]!)
    if (typeof message[key] !== "string")
      refuseAt(reading, key, `is ${kindOf(message[key])}; expected a string`);
  const { timestamp } = message;
  if (timestamp !== undefined && (typeof timestamp !== "number" || Number.isNaN(timestamp)))
    refuseAt(
      reading,
      "timestamp",
      `is ${kindOf(timestamp)}; expected milliseconds since the epoch`,
    );
  if (WITH_CONTENT.has(role) && typeof content !== "string") refuseOddBlocks(reading, content);
}

/** What a block of these types must hold; other types, and other fields, are passed over. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, "string" | "object">>>> = {
  text: { text: "string" },
  toolCall: { id: "string", name: "string", arguments: "object" },
  image: { data: "string", mimeType: "string" },
};
const IN_WORDS = { string: "a string", object: "an object" } as const;

function refuseOddBlocks(reading: Reading, content: unknown): void {
  reading.path.push("content");
  if (!Array.isArray(content))
    refuse(`is ${kindOf(content)}; expected a string or a list of blocks`);
  for (const [index, block] of content.entries()) {
    reading.path.push(index);
    if (!isRecord(block)) refuse(`is ${kindOf(block)}; expected a block`);
    const { type } = block;
    if (typeof type !== "string")
      refuseAt(reading, "type", `is ${kindOf(type)}; expected a string`);
    for (const [key, kind] of Object.entries(FIELDS[type] ?? {}))
      if (typeof block[key] !== kind)
        refuseAt(reading, key, `is ${kindOf(block[key])}; expected ${IN_WORDS[kind]}`);
    reading.path.pop();
  }
  reading.path.pop();
}

const nameOf = (role: unknown) =>
  typeof role === "string" ? `"${role.slice(0, 40)}"` : kindOf(role);
