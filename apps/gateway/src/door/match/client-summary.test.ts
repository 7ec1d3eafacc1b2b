// Hands summaries to their own client and to others, and puts conversations into one text.
import { describe, expect, it } from "vitest";
import type { Said, Writing } from "../testing/conversation.ts";
import { PlayedDoor } from "../testing/play-door.ts";
import { writeRequest } from "../testing/write-request.ts";
import type { DoorApi } from "../wires/door-wire.ts";

const person = (text: string): Said => ({ uid: null, by: "person", text });
const model = (text: string): Said => ({ uid: null, by: "model", text, calls: [] });
const LOOKED =
  "I looked at the settings of the shop and found seven odd lines in one of the files.";
const MENDED = "I mended all of the seven odd lines, and then I ran each of the tests once more.";
const SUMMARY =
  "The shop's settings had seven odd lines, which are mended; the tests pass and the invoice page is next.";
const ASKED: readonly Said[] = [
  person("Look at it."),
  model(LOOKED),
  person("Mend it."),
  model(MENDED),
];
const OWN = { model: "m", head: ["You are an agent of the shop."], tools: ["read", "write"] };

function startPlay(own: Partial<Writing> = {}) {
  const door = new PlayedDoor();
  const send = (
    said: readonly Said[],
    text: string,
    { api = "openai-completions", ...writing }: Partial<Writing> & { api?: DoorApi } = {},
  ) => {
    const request = writeRequest(api, said, { ...OWN, ...own, ...writing });
    const handled = door.request(api, { request, headers: {} });
    door.reply(handled, { text, thinking: "", calls: [] });
    return handled;
  };
  const { session } = send(ASKED.slice(0, 1), LOOKED);
  send(ASKED.slice(0, 3), MENDED);
  return { door, send, session };
}

const LONG_RULES = [`You are an agent. End with a summary. ${"Mind the rules. ".repeat(60)}`];

const WISHES = {
  "in many words": `Write a summary of this conversation. ${"Name every file. ".repeat(60)}`,
  "in few words": "Please summarize our conversation so far.",
};
const RESTART = [person(`So far: ${SUMMARY}`), person("Now the invoices.")];

describe.each(Object.entries(WISHES))("a summary that was asked for %s", (_, wish) => {
  it.each([
    ["under another system prompt", { head: ["You are a reviewer."] }],
    ["with other tools", { tools: ["deploy", "pay"] }],
    ["without its tools", { tools: [] }],
    ["on another wire", { api: "openai-responses" as const }],
  ])("tells nothing of its session %s", (_, writing) => {
    const { send, session } = startPlay();
    send([...ASKED, person(wish)], SUMMARY);
    expect(send(RESTART, "It reads well.", writing).session).not.toBe(session);
  });

  it.each([
    ["its own", {}, {}],
    ["no tools when it asked", { tools: [] }, {}],
    ["a system prompt of blocks", {}, { head: ["You are an agent", " of the shop."] }],
  ])("tells it with %s", (_, asking, writing) => {
    const { send, session } = startPlay();
    send([...ASKED, person(wish)], SUMMARY, asking);
    expect(send(RESTART, "The invoices are next.", writing).session).toBe(session);
  });

  it("tells it with tools that came since its first turn, and with those of that", () => {
    const { send, session } = startPlay();
    const more = { tools: [...OWN.tools, "deploy"] };
    send([...ASKED, person("And the rest?")], "The rest of it is as it was.", more);
    const history = [...ASKED, person("And the rest?"), model("The rest of it is as it was.")];
    send([...history, person(wish)], SUMMARY, more);
    expect(send(RESTART, "The invoices are next.", more).session).toBe(session);
  });
});

it("tells a session by a summary where its client is known to write its system prompt anew", () => {
  const at = (time: string) => ({ head: [`You are an agent of the shop. It is ${time} now.`] });
  const { send, session } = startPlay(at("noon"));
  send([...ASKED, person(WISHES["in many words"])], SUMMARY, at("one"));
  const next = send(RESTART, "The invoices are next.", at("two"));
  expect(next.session).toBe(session);
  expect(send(RESTART, "No.", { head: ["You are a reviewer."] }).session).not.toBe(session);
});

describe("the reply to what was asked beside a conversation", () => {
  const reply = "Please add a test for odd lines in nested lists of the settings, too.";
  const begin = (text: string) => [person(text)];

  it.each([
    ["a title", "Reply with a title for this conversation.", ["You write short texts."]],
    ["a title, in a summary's words", "Summarize this conversation as a title.", OWN.head],
    ["a commit message", "Summarize the changes in a commit message.", ["You write short texts."]],
    ["what may be said next", "Suggest what the person may ask next.", OWN.head],
    ["more, under a prompt that speaks of summaries", "What is next?", LONG_RULES],
  ])("begins a conversation of its own: %s", (_, wish, head) => {
    const { send, session } = startPlay(head === LONG_RULES ? { head } : {});
    const own = head === LONG_RULES ? { head } : {};
    const beside = send([...ASKED, person(wish)], reply, { tools: [], head });
    expect(beside.match.kind).not.toBe("compaction");
    expect(send(begin(reply), "I added it.", own).session).not.toBe(session);
    expect(send(begin(`Review this:\n${reply}`), "It is fine.", own).session).not.toBe(session);
  });

  it("goes on by it where it was asked for a summary, in whatever prompt", () => {
    const { send, session } = startPlay();
    const writing = { tools: [], head: ["You write summaries of conversations."] };
    send([...ASKED, person("Now do it.")], SUMMARY, writing);
    expect(send(RESTART, "The invoices are next.").session).toBe(session);
  });
});

describe("a conversation with tools that is put into one text for a summary", () => {
  const wish = (...said: string[]) => [person([...said, WISHES["in many words"]].join("\n"))];

  it.each([
    ["its person took back", [...ASKED.slice(0, 2), person("No, the other one.")]],
    ["was asked again", ASKED.slice(0, 3)],
  ])("is known by all its replies, without one that %s", (_, again) => {
    const { send, session } = startPlay();
    send(again, "Ok.");
    const asked = send(wish("Look at it.", LOOKED), SUMMARY, { tools: [] });
    expect(asked).toMatchObject({ session, match: { by: "words", kind: "side" } });
  });

  it("is another's with one of two replies", () => {
    const { send, session } = startPlay();
    expect(send(wish(LOOKED), SUMMARY, { tools: [] }).session).not.toBe(session);
  });
});

describe("a conversation without tools that is put into one text for a summary", () => {
  const none = { tools: [] };
  const text = ASKED.map((one) => ("text" in one ? `# ${one.by}\n${one.text}` : "")).join("\n");
  const WRITER = { head: ["Briefly summarize this partial conversation."] };

  it.each([
    ["by its system prompt", text, WRITER],
    ["at the end", `${text}\n\nWrite a summary of this conversation.`, { head: [] }],
    ["under its own system prompt", `Summarize this conversation:\n${text}`, {}],
  ])("is known, asked for %s, and by its summary, too", (_, asked, writing) => {
    const { send, session } = startPlay(none);
    const wish = send([person(asked)], SUMMARY, writing);
    expect(wish).toMatchObject({ session, match: { kind: "compaction" }, plan: { fresh: [] } });
    const next = send([RESTART[0]!, model("Ok."), RESTART[1]!], "The invoices are next.");
    expect(next).toMatchObject({ session, plan: { fresh: [0, 2], summary: 0 } });
  });

  it("is another's with one of its replies, and where its client goes on behind the summary", () => {
    const { send, session } = startPlay(none);
    expect(send([person(`Summarize this: ${LOOKED}`)], SUMMARY).session).not.toBe(session);
    const wish = [person(`${text}\nSummarize that.`), model(SUMMARY), person("Shorter.")];
    send(wish.slice(0, 1), SUMMARY, WRITER);
    const next = send(wish, "Seven lines were mended.", WRITER);
    expect(next.session).not.toBe(session);
    expect(next.plan.fresh).toEqual([0, 1, 2]);
  });
});
