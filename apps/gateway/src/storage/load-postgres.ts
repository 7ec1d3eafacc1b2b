// Loads the package that keeps sessions in PostgreSQL.
import { ContextEngineError } from "@clew/plugin-sdk/core";

/** Loaded only where it is used. Throws CONFIG_INVALID where it is not installed. */
export async function loadPostgres(): Promise<typeof import("@clew/store-postgres")> {
  try {
    return await import("@clew/store-postgres");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new ContextEngineError(
      "CONFIG_INVALID",
      'storage.driver is "postgres", and its package is not installed; run: npm install @clew/store-postgres',
      { cause: error },
    );
  }
}
