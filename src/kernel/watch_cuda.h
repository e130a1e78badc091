/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of one thread that count steps and bring devices together; in every text that steps. */

/* One thread, once a graph: the next `steps` steps count on from here. */
LMK_KERNEL lmk_watch_advance(lmk_watch *watch, uint64_t steps)
{
  watch->base += steps;
}

/* One thread: tells the neighbours that this device has done its step, and waits until they have done theirs. What the
 * step stored into their memory is there before they are told. */
LMK_KERNEL lmk_meet(LMK_ARGUMENT lmk_device_meeting meeting)
{
  lmk_watch *own = meeting.own;
  const uint64_t now = own->meetings + 1;
  uint64_t patience = LMK_PATIENCE;
  if (meeting.lower != 0)
    lmk_tell(&meeting.lower->told[1], now);
  if (meeting.upper != 0)
    lmk_tell(&meeting.upper->told[0], now);
  if (meeting.lower != 0)
    LMK_WAIT_WHILE(lmk_hear(&own->told[0]) < now && --patience > 0);
  if (meeting.upper != 0)
    LMK_WAIT_WHILE(lmk_hear(&own->told[1]) < now && --patience > 0);
  if (patience == 0)
    own->lost = now;
  own->meetings = now;
}
