-- The table lies by minute: a route's rows of a week are among those of all routes. Here they lie
-- together. Built when parts are written or merged; a part without it is read as before.
ALTER TABLE rollups {on_cluster} MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild';

ALTER TABLE rollups {on_cluster} ADD PROJECTION IF NOT EXISTS by_route
(
    SELECT
        minute, service, environment, route, rubric, layer, segment, version,
        n, total, squares, failed, histogram, labels
    ORDER BY service, environment, route, minute
);
