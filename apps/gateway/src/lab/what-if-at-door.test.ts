// Plays a session again whose client called tools at the door.
import { expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../config/door.ts";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { TestClient } from "../door/testing/client.ts";
import { startReplies } from "../door/testing/http-world.ts";
import { collectLog } from "../testing/plugins.ts";
import { startTestDoor } from "../testing/test-door.ts";
import { runWhatIf } from "./what-if.ts";

it.each(DOOR_APIS)(
  "by %s, each call of a client that calls tools stands beside the one in whose place it was played",
  async (api) => {
    const upstream = await startReplies();
    onTestFinished(upstream.close);
    const door = await startTestDoor(upstream);
    const client = new TestClient(api);
    const send = async (text?: string) => {
      const reply = text === undefined ? client.reply() : { text, thinking: "", calls: [] };
      const { session } = await upstream.play(door.url, client.ask(), { reply, fault: undefined });
      return session!;
    };
    let session = "";
    for (const round of [1, 2, 3]) {
      client.say(`Look at the parser, please, for the ${round}. time.`);
      await send();
      await send();
      session = await send(`It dropped line ${round}.`);
    }
    await door.gateway.door.settled();
    const { asItWas, played } = await runWhatIf({
      ...{ environment: readEnvironment({ CLEW_HOME: door.home }), log: collectLog(), session },
      ...{ loaded: checkConfigText("{}", "clew.json"), signal: new AbortController().signal },
      ask: { engine: "legacy", model: "offline/offline" },
    });
    expect(asItWas.each.map(({ id }) => id)).toEqual(
      Array.from({ length: 9 }, (_, at) => `${at + 1}.1`),
    );
    expect(played.points.map(({ ofCall }) => ofCall)).toEqual(asItWas.each.map(({ id }) => id));
  },
);
