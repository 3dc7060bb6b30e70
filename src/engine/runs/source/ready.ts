import type { DeployedComponent } from "../../../domain/source/deployed-component.ts";
import type { PdError } from "../../../domain/errors.ts";
import type { SavedComponent } from "../../../domain/component/saved-component.ts";
import type { Unit } from "../../../ports/runner.ts";
import type { Reach } from "../../accounts/credentials.ts";
import type { Owned } from "./state-ownership.ts";

export interface Version {
  readonly component: SavedComponent;
  unit: Unit | undefined;
  starting: Promise<Unit> | undefined;
}

export interface Warm {
  readonly version: Version;
  readonly unit: Unit;
  readonly owned: Owned;
}

export interface Ready {
  readonly source: DeployedComponent;
  readonly reach: Reach | PdError;
  readonly warm: Warm;
}
