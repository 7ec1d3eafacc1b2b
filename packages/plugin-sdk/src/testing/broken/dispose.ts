// Engines that cannot be disposed of twice, or used again.
import { type BrokenEngines, fullWith } from "./break.ts";

export const BROKEN_DISPOSE: BrokenEngines = {
  "dispose/use-again": fullWith((engine) => {
    let isClosed = false;
    return {
      assemble(params) {
        if (isClosed) throw new Error("database is closed");
        return engine.assemble(params);
      },
      dispose() {
        isClosed = true;
      },
    };
  }),
  "dispose/twice": fullWith(() => {
    let isClosed = false;
    return {
      dispose() {
        if (isClosed) throw new Error("already closed");
        isClosed = true;
      },
    };
  }),
};
