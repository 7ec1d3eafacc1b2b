import { expect, it } from "vitest";
import { z } from "zod";
import { createToolPort, defineTool } from "./tool.ts";

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
