import { describe } from "vitest";
import { deliveryContract } from "../contract/deliveries.ts";
import { raceContract } from "../contract/races.ts";
import { secretContract, sharedDataContract } from "../contract/shared-data.ts";
import { storeContract } from "../contract/store.ts";
import { workflowContract } from "../contract/workflows.ts";
import { newDatabase, openPostgresAt, postgresForTests } from "../support/postgres.ts";

describe("the PostgreSQL store", () => {
  const server = postgresForTests();
  const place = async () => {
    const config = await newDatabase(server());
    return { store: await openPostgresAt(config), reopen: () => openPostgresAt(config) };
  };
  deliveryContract(async () => (await place()).store);
  storeContract(place);
  sharedDataContract(place);
  secretContract(place);
  raceContract(place);
  workflowContract(place);
});
