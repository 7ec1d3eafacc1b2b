import { expect, it } from "vitest";
import { z } from "zod";
import { createToolPort, defineTool, ToolRefusal } from "./tool.ts";

it("a schema of arguments is described once, whichever port offers the tool", () => {
  const parameters = z.object({ path: z.string().describe("where") });
  const offer = () => {
    const tool = defineTool({
      ...{ name: "look", description: "Looks.", parameters, readOnly: true },
      run: async () => "seen",
    });
    return createToolPort({ tools: [tool] }).list({} as never)[0]!;
  };
  expect(offer().parameters).toMatchObject({ properties: { path: { description: "where" } } });
  expect(offer().parameters).not.toHaveProperty("$schema");
  expect(offer().parameters).toBe(offer().parameters);
});

it("the report says who allowed a call, and why it came to nothing all the same", async () => {
  const tool = defineTool({
    ...{ name: "change", description: "", parameters: z.object({}), readOnly: false },
    run: async () => {
      throw new ToolRefusal("It is gone.");
    },
  });
  const port = createToolPort({
    tools: [tool],
    approve: async () => ({ kind: "answered", answer: "once", at: "page" }),
  });
  const { signal } = new AbortController();
  const call = { type: "toolCall" as const, id: "1", name: "change", arguments: {} };
  expect(await port.run({ call, session: {} as never, signal })).toEqual({
    content: [{ type: "text", text: "It is gone." }],
    isError: true,
    note: "allowed once on the page; It is gone.",
  });
});
