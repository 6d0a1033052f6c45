-- What the checker reads besides the queue's own tables: each change of a job's status or token, each touch of a job
-- that has ended, and a trigger that raises errors for a share of the statements when a nemesis asks for it.
CREATE TABLE chaos_move (
    id bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(), job_id bigint NOT NULL,
    old_status text, new_status text NOT NULL, old_token uuid, new_token uuid, old_lease_expires_at timestamptz,
    worker_id uuid, is_unwanted boolean NOT NULL DEFAULT false, writer text NOT NULL DEFAULT current_setting('application_name')
);
CREATE FUNCTION chaos_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO chaos_move (job_id, new_status, new_token) VALUES (NEW.id, NEW.status, NEW.lease_token);
    ELSE
        INSERT INTO chaos_move (
            job_id, old_status, new_status, old_token, new_token, old_lease_expires_at, worker_id, is_unwanted
        ) VALUES (
            NEW.id, OLD.status, NEW.status, OLD.lease_token, NEW.lease_token, OLD.lease_expires_at, NEW.worker_id,
            NEW.cancel_requested_at IS NOT NULL
        );
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER chaos_note_insert AFTER INSERT ON django_jobqueue_job FOR EACH ROW EXECUTE FUNCTION chaos_note();
CREATE TRIGGER chaos_note_update AFTER UPDATE ON django_jobqueue_job FOR EACH ROW
    WHEN (
        OLD.status <> NEW.status OR OLD.lease_token IS DISTINCT FROM NEW.lease_token
        OR OLD.status IN ('SUCCESSFUL', 'FAILED', 'CANCELLED')
    ) EXECUTE FUNCTION chaos_note();

CREATE TABLE chaos_error (code text NOT NULL, share float8 NOT NULL);
-- How often it did: what a sequence has counted is not undone with the transaction.
CREATE SEQUENCE chaos_raised;
CREATE FUNCTION chaos_raise() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    wanted text;
BEGIN
    SELECT code INTO wanted FROM chaos_error WHERE random() < share LIMIT 1;
    IF FOUND THEN
        PERFORM nextval('chaos_raised');
        RAISE EXCEPTION 'injected' USING ERRCODE = wanted;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER chaos_raise BEFORE INSERT OR UPDATE ON django_jobqueue_job
    FOR EACH STATEMENT EXECUTE FUNCTION chaos_raise();
