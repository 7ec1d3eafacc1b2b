// Looks up at one gateway what sessions of its agent said at another one.
import { describe, expect, it, onTestFinished } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { post } from "../../testing/gateway.ts";
import { heldModel } from "../../testing/held-model.ts";
import { type Place, startPlace, stopPlace } from "../../testing/killed-gateways.ts";

describe.skipIf(whyNoPostgres() !== null)(`recall at two gateways ${UNLESS_THERE}`, () => {
  it("finds over all conversations what was said at each, also before /new, and says that it looked at all", {
    timeout: 120_000,
  }, async () => {
    const model = await heldModel();
    const config = { ...model.config, plugins: { slots: { contextEngine: "lossless" } } };
    const plan = { databaseUrl: await testDatabase(), deadAfterSeconds: 5, config };
    const places = await Promise.all([startPlace(plan), startPlace(plan)]);
    onTestFinished(async () => void (await Promise.all(places.map(stopPlace))));
    const [one, two] = places as [Place, Place];
    const addressOf = ({ port }: Place, session: string) =>
      `http://127.0.0.1:${port}/api/sessions/${session}`;
    const send = async (place: Place, session: string, text: string) => {
      const answer = await fetch(`${addressOf(place, session)}/messages`, post({ text }));
      return answer.text();
    };
    const say = async (place: Place, session: string, text: string) => {
      const told = send(place, session, text);
      await model.answer("Noted.");
      expect(await told).toContain('"outcome":"completed"');
    };
    const looked = async (
      place: Place,
      session: string,
      ...[tool, args, replies = ["Found."]]: [string, object, string[]?]
    ) => {
      const told = send(place, session, "Look it up.");
      (await model.asked()).callTool(tool, args);
      for (const reply of replies) await model.answer(reply);
      expect(await told).toContain('"outcome":"completed"');
      const { entries } = (await (await fetch(addressOf(place, session))).json()) as {
        entries: { message?: { role: string; content: { text: string }[] } }[];
      };
      return entries
        .findLast(({ message }) => message?.role === "toolResult")!
        .message!.content.map(({ text }) => text)
        .join("");
    };
    await say(one, "a", "The lantern of a is dark.");
    await say(two, "b", "The lantern of b is dark.");
    await send(two, "b", "/new");
    await say(two, "b", "The lantern of b burns.");
    const asked = { pattern: "lantern", allConversations: true };
    const [atOne, atTwo] = [
      await looked(one, "asks-one", "lcm_grep", asked),
      await looked(two, "asks-two", "lcm_grep", asked),
    ];
    for (const found of [atOne, atTwo]) {
      expect(found).toMatch(/^3 found, newest first\. All \d+ messages were searched\./);
      for (const text of ["of a is dark", "of b is dark", "of b burns"])
        expect(found).toContain(`The lantern ${text}.`);
    }
    const numbers = (found: string) => [...found.matchAll(/^#\d+ · id \S+/gm)].map(([id]) => id);
    expect(numbers(atTwo)).toEqual(numbers(atOne));
    const [id] = /#\d+/.exec(numbers(atOne)[0]!)!;
    expect(await looked(one, "asks-one", "lcm_describe", { id, allConversations: true })).toContain(
      "The lantern of b burns.",
    );
    // The tool asks the model, too.
    const question = { prompt: "Which lantern of a is dark?", allConversations: true };
    const replies = ["That of a.", "Found."];
    const answer = await looked(two, "asks-two", "lcm_expand_query", question, replies);
    expect(JSON.parse(answer)).toMatchObject({ answer: "That of a." });
  });
});
