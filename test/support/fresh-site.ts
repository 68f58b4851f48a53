/** The hooks of a suite of runners: a coordinator that is scripted, and a folder for runner processes, anew for each test. */
import { FakeCoordinator } from './fake-coordinator.ts';
import { Site } from './runner-process.ts';

/** `use` takes both before each test; their processes and the folder are gone after it. */
export function freshSite(use: (fresh: { fake: FakeCoordinator; site: Site }) => void): void {
  let fake: FakeCoordinator;
  let site: Site;
  beforeEach(async () => {
    fake = await FakeCoordinator.start();
    site = new Site();
    use({ fake, site });
  });
  afterEach(async () => {
    await site.clean();
    await fake.stop();
  });
}
