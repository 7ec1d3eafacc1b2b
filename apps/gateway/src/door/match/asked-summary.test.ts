// Goes on by summaries, and looks at what the door takes for new.
import { describe, expect, it } from "vitest";
import type { Said } from "../testing/conversation.ts";
import { PlayedDoor } from "../testing/play-door.ts";
import { writeRequest } from "../testing/write-request.ts";
import { placesWhenAsked } from "./asked-summary.ts";
import { saidToken } from "./sketch.ts";

const person = (text: string): Said => ({ uid: null, by: "person", text });
const model = (text: string): Said => ({ uid: null, by: "model", text, calls: [] });
const WISH = person(`Write a summary of this conversation. ${"Name every file. ".repeat(60)}`);

function startPlay() {
  const door = new PlayedDoor();
  const send = (said: readonly Said[], text: string) => {
    const request = writeRequest("openai-completions", said, {
      ...{ model: "m", head: ["Be brief."], tools: ["read"] },
    });
    const handled = door.request("openai-completions", { request, headers: {} });
    door.reply(handled, { text, thinking: "", calls: [] });
    return handled;
  };
  return { door, send };
}

const replyTo = (words: string) => `This is what came of it when somebody said "${words}" here.`;
const turn = (words: string) => [person(words), model(replyTo(words))];
const SUMMARIES = ["one", "two"].map(
  (count) => `Summary number ${count}: the parser was fixed, its tests pass, nothing is pending.`,
);
const [first, second] = SUMMARIES.map((text) => person(`So far: ${text}`)) as [Said, Said];

describe("a client that goes on by a summary and the person's newest words", () => {
  const begin = () => {
    const { door, send } = startPlay();
    send([person("Fix it.")], replyTo("Fix it."));
    send([...turn("Fix it."), person("Go on.")], replyTo("Go on."));
    send([...turn("Fix it."), ...turn("Go on."), WISH], SUMMARIES[0]!);
    const next = send([person("Go on."), first], "The docs say now how the parser is called.");
    return { door, send, next, since: model("The docs say now how the parser is called.") };
  };

  it("stores the summary alone, and after a second one, too", () => {
    const { send, next, since } = begin();
    expect(next).toMatchObject({ plan: { fresh: [1] } });
    const history = [person("Go on."), first, since, ...turn("And now?")];
    send(history.slice(0, -1), replyTo("And now?"));
    send([...history, WISH], SUMMARIES[1]!);
    const again = send([person("And now?"), second], "It is done.");
    expect(again).toMatchObject({ session: next.session, plan: { fresh: [1] } });
  });

  it.each([false, true])(
    "stores words that came with the wish for it, though they are old ones, restarted %s",
    (restarts) => {
      const { door, send, since } = begin();
      send([person("Go on."), first, since, person("Go on."), WISH], SUMMARIES[1]!);
      if (restarts) door.restart();
      expect(send([person("Go on."), second], "It is done.").plan.fresh).toEqual([0, 1]);
    },
  );

  it("stores them once where a turn brought them meanwhile", () => {
    const { send, since } = begin();
    const history = [person("Go on."), first, since, person("Go on.")];
    send([...history, WISH], SUMMARIES[1]!);
    expect(send(history, "It is going on.").plan.fresh).toEqual([3]);
    expect(send([person("Go on."), second], "It is done.").plan.fresh).toEqual([1]);
  });
});

it("stores a summary that replaces nothing but the one before it", () => {
  const { send } = startPlay();
  send([person("Fix it.")], replyTo("Fix it."));
  send([...turn("Fix it."), person("Go on.")], replyTo("Go on."));
  send([...turn("Fix it."), ...turn("Go on."), WISH], SUMMARIES[0]!);
  const kept = [...turn("Go on."), person("And now?")];
  send([first, ...kept], replyTo("And now?"));
  const all = [...turn("Go on."), ...turn("And now?")];
  send([first, ...all, WISH], SUMMARIES[1]!);
  const next = send([second, ...all, person("Thanks.")], "You are welcome.");
  expect(next.plan).toMatchObject({ fresh: [0, 5], summary: 0 });
  const later = [...all, person("Thanks."), model("You are welcome."), person("Bye.")];
  expect(send([second, ...later], "Bye.").plan.fresh).toEqual([7]);
});

describe("what stood where when a summary was asked for", () => {
  const said = saidToken("So it is.");
  const asked = (tokens: string[]) => ({
    ...{ isTurn: false, end: "", texts: [], unstored: new Set<number>() },
    tokens: [...tokens, "wish"],
  });
  const places = (history: string[], tokens: string[]) =>
    Object.fromEntries(
      placesWhenAsked(asked(history), tokens, {
        ...{ summary: tokens.indexOf("summary"), behind: tokens.indexOf("summary") + 1 },
      }),
    );

  it("is the newest of equal words before the summary", () => {
    const history = ["rules", "go on", said, "go on"];
    expect(places(history, ["rules", "go on", "summary"])).toEqual({ 0: 0, 1: 3 });
  });

  it("is the end behind the summary, and what came before that in front of it", () => {
    const history = ["go on", "first", said, "go on"];
    expect(places(history, ["go on", "summary", said, "go on"])).toEqual({ 0: 0, 2: 2, 3: 3 });
  });

  it("is known where words behind it were taken back", () => {
    expect(places(["first", said, "go on"], ["summary", said, "no"])).toEqual({ 1: 1 });
    expect(places(["first", said, "go on"], ["summary", "first", "no"])).toEqual({});
  });
});
