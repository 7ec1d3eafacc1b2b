// Shortens small histories and looks at which messages stay.
import { expect, it } from "vitest";
import { planView, type ViewMessage } from "./plan-view.ts";

const message = (
  speaker: ViewMessage["speaker"],
  tokens: number,
  more: Partial<ViewMessage> = {},
): Omit<ViewMessage, "place"> => ({
  speaker,
  tokens,
  calls: [],
  answers: [],
  text: "words",
  ...more,
});
const pair = (id: string) => [
  message("model", 100, { calls: [id], text: "" }),
  message("tools", 100, { answers: [id], text: "" }),
];

it("no turn goes that reaches into the open request, and what is said beside that goes before", () => {
  const messages = [
    message("person", 100),
    message("model", 100),
    message("person", 100),
    message("model", 100),
    // What is open.
    message("person", 500),
    ...pair("a"),
    message("person", 3_000),
    ...pair("b"),
  ].map((one, at) => ({ ...one, place: String(at) }));
  const plan = planView({
    ...{ messages, fixedTokens: 0, window: 4_000, leastReply: 100, marks: {} },
    shortTokens: (index) => messages[index]!.tokens,
    noteTokens: () => 0,
  });
  expect(plan.fits).toBe(true);
  expect([...plan.leftOut].toSorted((a, b) => a - b)).toEqual([2, 3, 5, 6, 7]);
});
